#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// Starts a program with both outputs on `output` and its standard input from `input` (-1: an empty one), under a
// guard: a process of its own that waits for the program and exits with its status (128 + the signal that killed it).
// When the thread that called this ends in any way, the program and its children are killed, and the guard removes
// `work_folder`, a file or folder that belongs to the program alone.
//
// Returns the guard's process number, or a negative errno. `path` is absolute or relative to the working directory.
pid_t start_guarded(const std::string& path, const std::vector<std::string>& command, int output,
                    const std::string& work_folder, int input = -1);
// Kills the program and its children; `work_folder` stays.
void end_guarded(pid_t guard);

}
