#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// Starts a program with empty standard input and both outputs on `output`, and behind a guard: a process
// of its own that waits for the program and ends with its status (128 and the signal where one killed it). When the
// thread that started it is gone, however it went, the program and all of its children die, and the guard removes
// `scratch`, a folder that was the program's alone.
//
// The guard's number, or the error's below zero. `path` is absolute, or relative to the working directory.
pid_t start_guarded(const std::string& path, const std::vector<std::string>& command, int output,
                    const std::string& scratch);
// Ends the program and all of its children; `scratch` stays.
void end_guarded(pid_t guard);

}
