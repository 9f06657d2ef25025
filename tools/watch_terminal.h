#pragma once
#include "engine/watch/process.h"

namespace nacelle::tools {

// What is watched, on a terminal: a few lines that are written over, and keys.
class WatchTerminal final {
public:
    // `title` stands above: where the page is, if there is one.
    WatchTerminal(Board& board, WatchedProcess& process, std::string title);
    // Leaves the terminal as it was.
    ~WatchTerminal();
    WatchTerminal(const WatchTerminal&) = delete;
    WatchTerminal& operator=(const WatchTerminal&) = delete;

    // Shows what is new and takes keys, for up to a tenth of a second; false where somebody quits.
    bool turn();

private:
    bool take_key(const std::string& key);
    void change_parameter(int by);
    std::vector<std::string> lines();

    Board& board_;
    WatchedProcess& process_;
    std::string title_;
    size_t chosen_ = 0, shown_ = 0;    // the parameter; how many lines stand there
    bool paused_ = false;
};

// What the board says, in words that fit a line: "runs  960 steps/s  step 60  return 22.2  length 22.2".
std::string status_words(const Board& board);
// A reload or a problem as a terminal shows it; empty where there is none.
std::string news_words(const Board& board);

}
