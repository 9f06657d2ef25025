#pragma once
#include <functional>
#include <string>
#include <vector>

namespace nacelle {

// How a child process came to its end.
struct ChildEnd {
    enum How { exited, killed_by_signal, stuck } how = exited;
    int status = 0;    // exit status or signal
};

// Takes a line of the child's standard output; answers for how many seconds it may now be silent.
using LineTaken = std::function<double(const std::string&)>;

// Runs a program in a process group of its own until it ends, or until it is silent for longer than
// it may be. It then gets SIGUSR1, a moment to say where it stands, and is killed with its
// children.
ChildEnd run_child(const std::vector<std::string>& command, double silence, const LineTaken& taken);

}
