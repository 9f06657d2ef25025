#pragma once
#include "engine/web/sections.h"

#include <chrono>
#include <deque>
#include <string>

namespace nacelle {

// The output of an author's code. Its last lines are the section "output": {"count":N,"lines":[...]}, N being the
// number of all lines. The section is updated at a limited rate.
class PrintedLines final {
public:
    static constexpr size_t most_lines = 50, most_letters = 400;

    explicit PrintedLines(Sections& sections) : sections_(sections) {}
    // Whole lines.
    void add(const std::string& text);
    // Updates the section where lines are new, and it is due or `now`.
    void show(bool now);

private:
    Sections& sections_;
    std::deque<std::string> lines_;
    uint64_t count_ = 0, shown_ = 0;
    std::chrono::steady_clock::time_point told_{};
};

}
