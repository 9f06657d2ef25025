#pragma once
#include <atomic>
#include <string>
#include <sys/types.h>
#include <vector>

namespace nacelle {

struct ProcessResult {
    int status = 0;        // exit status, or 128 + the signal
    std::string output;    // standard output and standard error as they came
    bool cancelled = false;
};

// Runs a program found on PATH with standard input empty, and waits. Throws where it cannot be
// started. Setting `cancel` kills it and its children, and so does the end of this process or thread,
// which also takes along `scratch`, a folder that is the program's alone. A child that it leaves running
// in the background is not waited for.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::atomic<bool>* cancel = nullptr,
                          const std::string& scratch = {});
// Starts a program whose standard input is this socket and whose output goes nowhere, and does not wait; its number,
// or -1 where it cannot be started.
pid_t start_process(const std::vector<std::string>& command, int input);
// The full path of a program on PATH, or empty. A name with a slash is looked up as it stands.
std::string find_program(const std::string& name);

}
