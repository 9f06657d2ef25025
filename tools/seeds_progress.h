#pragma once
#include "engine/run/run.h"
#include "tools/terminal_line.h"

#include <chrono>
#include <optional>

namespace nacelle::tools {

// The one line of progress of several runs. One thread at a time.
class SeedsProgress final {
public:
    SeedsProgress(size_t runs, bool shown) : line_(shown), runs_(runs) {}
    void show(size_t index, const Progress& progress);
    // The run is over, or has failed.
    void done(size_t index);
    void end() { line_.end(); }

private:
    struct Run {
        double share = 0, steps_per_second = 0;
        std::optional<double> returned, evaluated;
        bool over = false;
    };
    double share() const;
    std::string text() const;

    TerminalLine line_;
    std::vector<Run> runs_;
    // Compiling, which comes before the first line, tells nothing of the time that is left.
    std::optional<std::chrono::steady_clock::time_point> start_;
    std::chrono::steady_clock::time_point shown_{};
    double share_at_start_ = 0;
};

}
