#pragma once
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// The seconds that a compiler may take on a busy machine.
inline constexpr double compile_patience = 600;

// How a child process ended.
struct ChildEnd {
    enum How { exited, killed_by_signal, stuck } how = exited;
    int status = 0;    // exit status or signal
};

// Callbacks while a child runs, on the thread of run_child().
struct ChildFollower {
    // Gets its process number and our end of the channel, on which it can be sent lines.
    std::function<void(pid_t process, int channel)> started = {};
    // Gets a line from the channel; returns for how many seconds the channel may now be silent.
    std::function<double(const std::string& line)> said;
    // Gets whole lines that the child has printed: an author's output, which is shown and never interpreted.
    std::function<void(const std::string& text)> printed = {};
};

// Runs a program in a process group of its own until it ends, or until its channel is silent for too long. Then it
// gets SIGUSR1 and a moment to report its position, and is killed with its children. The channel is a separate
// descriptor, so that no print of an author's code reaches it: the number of the child's end is appended to the
// command (parent.h is that end).
ChildEnd run_child(std::vector<std::string> command, double silence, const ChildFollower& follower);

}
