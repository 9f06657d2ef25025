#pragma once
#include "engine/base/signal_stack.h"

#include <filesystem>
#include <vector>

namespace nacelle::tools {

// While it lives, a fatal signal of this thread ends the program with a message and status 1: numbers of a recording
// may make draw() read outside a plain array, which cannot become an Error.
class DrawingGuard final {
public:
    explicit DrawingGuard(const std::filesystem::path& recording);
    ~DrawingGuard();
    DrawingGuard(const DrawingGuard&) = delete;
    DrawingGuard& operator=(const DrawingGuard&) = delete;

private:
    SignalStack stack_;
    std::vector<struct sigaction> before_;
};

}
