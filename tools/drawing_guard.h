#pragma once
#include <filesystem>
#include <vector>

#include <signal.h>

namespace nacelle::tools {

// While it lives, a signal that this thread raises by what it does ends the program with a sentence and
// status 1 instead of a crash: a recording's numbers may have draw() read outside a plain array, which
// cannot be turned into an Error.
class DrawingGuard final {
public:
    explicit DrawingGuard(const std::filesystem::path& recording);
    ~DrawingGuard();
    DrawingGuard(const DrawingGuard&) = delete;
    DrawingGuard& operator=(const DrawingGuard&) = delete;

private:
    std::vector<char> stack_;    // a draw() that recurses without end has used up its own
    stack_t stack_before_{};
    std::vector<struct sigaction> before_;
};

}
