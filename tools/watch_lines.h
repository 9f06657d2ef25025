#pragma once
#include "engine/web/board.h"

#include <chrono>
#include <map>

namespace nacelle::tools {

// What is watched, where there is no terminal: a line for each reload and problem, and once a second where it
// stands.
class WatchLines final {
public:
    WatchLines(Board& board, bool json) : board_(board), json_(json) {}
    void turn();
    void status();
    // Puts on standard error what the author's code has printed.
    void prints();

private:
    Board& board_;
    bool json_;
    std::string news_, status_;
    uint64_t printed_ = 0;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// The files that were recorded, by one process after another, and the episodes in each.
class Recorded final {
public:
    void look(const Board& board);
    void tell(bool json) const;

private:
    std::map<std::string, uint64_t> episodes_;
};

}
