#pragma once
#include "engine/web/sections.h"

#include <chrono>
#include <map>

namespace nacelle::tools {

// Output of 'watch' without a terminal: a line for each reload and error, and once a second the status.
class WatchLines final {
public:
    WatchLines(Sections& sections, bool json) : sections_(sections), json_(json) {}
    void turn();
    void status();
    // Prints the output of the author's code on standard error.
    void prints();

private:
    Sections& sections_;
    bool json_;
    std::string news_, status_;
    uint64_t printed_ = 0;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

// The recorded files of one process after another, with the number of episodes in each.
class RecordedFiles final {
public:
    void look(const Sections& sections);
    void tell(bool json) const;

private:
    std::map<std::string, uint64_t> episodes_;
};

}
