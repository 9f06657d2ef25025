#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace nacelle {

struct ProcessResult {
    int status = 0;        // exit status, or 128 + the signal
    std::string output;    // standard output and standard error, interleaved
    bool cancelled = false;
};

// Runs a program found on PATH with empty standard input, and waits. Throws where it cannot be started. Setting
// `cancel` kills the program and its children; so does the end of this process or thread, which also removes
// `work_folder`, a file or folder that belongs to the program alone. Children that the program leaves in the
// background are not waited for.
ProcessResult run_process(const std::vector<std::string>& command,
                          const std::atomic<bool>* cancel = nullptr,
                          const std::string& work_folder = {});
// Takes bytes for the standard input of a program; false where the program reads no more of them.
using Feed = std::function<bool(std::string_view bytes)>;
// The same for a program that reads what `write` feeds it. What `write` throws kills the program and passes through.
ProcessResult run_fed_process(const std::vector<std::string>& command,
                              const std::function<void(const Feed&)>& write,
                              const std::string& work_folder = {});
// Starts a program with this socket as its standard input and no output, and does not wait. Returns its process
// number, or -1 where it cannot be started.
pid_t start_process(const std::vector<std::string>& command, int input);
// Writes the whole text to a socket, waiting for room; false where the other end is closed.
bool send_text(int socket, std::string_view text);
// The full path of a program on PATH, or empty. A name with a slash is not searched for.
std::string find_program(const std::string& name);

}
