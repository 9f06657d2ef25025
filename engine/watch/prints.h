#pragma once
#include "engine/web/board.h"

#include <chrono>
#include <deque>
#include <string>

namespace nacelle {

// What an author's code prints, for those who look: its last lines are a section of the board, "output":
// {"count":N,"lines":[...]}, N being the number of all that came. However fast it prints, the board is written seldom.
class Prints final {
public:
    static constexpr size_t most_lines = 50, most_letters = 400;

    explicit Prints(Board& board) : board_(board) {}
    // Whole lines.
    void add(const std::string& text);
    // Shows what the board lacks, where it is time for it or where `now`.
    void show(bool now);

private:
    Board& board_;
    std::deque<std::string> lines_;
    uint64_t count_ = 0, shown_ = 0;
    std::chrono::steady_clock::time_point told_{};
};

}
