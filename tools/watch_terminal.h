#pragma once
#include "engine/watch/process.h"

namespace nacelle::tools {

// Output of 'watch' on a terminal: a few lines that are rewritten, and keys.
class WatchTerminal final {
public:
    // `title` is the first line: the address of the page, if there is one.
    WatchTerminal(Sections& sections, WatchedProcess& process, std::string title);
    // Restores the terminal.
    ~WatchTerminal();
    WatchTerminal(const WatchTerminal&) = delete;
    WatchTerminal& operator=(const WatchTerminal&) = delete;

    // Shows news and handles keys for up to a tenth of a second; false where the user quits.
    bool turn();

private:
    bool take_key(const std::string& key);
    void change_parameter(int by);
    std::vector<std::string> lines();

    Sections& sections_;
    WatchedProcess& process_;
    std::string title_;
    size_t chosen_ = 0, shown_ = 0;    // the parameter; how many lines stand there
    bool paused_ = false;
};

// The status in one line: "runs  960 steps/s  step 60  return 22.2  length 22.2".
std::string status_words(const Sections& sections);
// A reload or error as a terminal shows it; empty where there is none.
std::string news_words(const Sections& sections);

}
