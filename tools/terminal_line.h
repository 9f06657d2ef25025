#pragma once
#include <chrono>
#include <string>

namespace nacelle::tools {

// The line about progress: rewritten on a terminal; elsewhere a line of its own every few seconds.
class TerminalLine final {
public:
    // The heading is printed at once on a terminal, elsewhere before the first line.
    explicit TerminalLine(bool shown, std::string heading = {});
    void show(const std::string& text);
    void end();

private:
    void say_heading();

    bool shown_, terminal_, open_ = false;
    std::string heading_;
    std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}
