#pragma once
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace nacelle {

// How a child process came to its end.
struct ChildEnd {
    enum How { exited, killed_by_signal, stuck } how = exited;
    int status = 0;    // exit status or signal
};

// What is done about a child while it runs, on the thread of run_child().
struct ChildFollower {
    // Its number, and our end of the channel: what is sent there reaches it.
    std::function<void(pid_t process, int channel)> started = {};
    // Takes a line that it says on the channel; answers for how many seconds it may now be silent there.
    std::function<double(const std::string& line)> said;
    // Takes whole lines that it has printed on its outputs: an author's words, to be shown and never to be obeyed.
    std::function<void(const std::string& text)> printed = {};
};

// Runs a program in a process group of its own until it ends, or until it is silent for longer than it
// may be. It then gets SIGUSR1, a moment to say where it stands, and is killed with its children. The channel is a
// descriptor of its own, which no print of an author's code reaches: the number of the child's end becomes the
// last argument of the command (parent.h is that end).
ChildEnd run_child(std::vector<std::string> command, double silence, const ChildFollower& follower);

}
