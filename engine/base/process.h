#pragma once
#include <atomic>
#include <string>
#include <vector>

namespace nacelle {

struct ProcessResult {
    int status = 0;        // exit status, or 128 + the signal
    std::string output;    // standard output and standard error as they came
    bool cancelled = false;
};

// Runs a program found on PATH with standard input empty, and waits. Throws where it cannot be
// started. Setting `cancel` kills it and its children. A child that it leaves running in the
// background is not waited for.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::atomic<bool>* cancel = nullptr);
// The full path of a program on PATH, or empty. A name with a slash is looked up as it stands.
std::string find_program(const std::string& name);

}
