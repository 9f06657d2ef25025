#pragma once
#include <mutex>
#include <string>

namespace nacelle {

// The parent process, which called run_child(), seen from the child: the other end of its channel.
class Parent final {
public:
    // `channel`: the last argument of the command line. Programs that this process starts do not inherit it.
    explicit Parent(int channel);

    // Sends one line, from any thread; does nothing where the parent has closed the channel.
    void say(const std::string& line);
    // Appends what the parent has sent so far; false where it has closed the channel. Does not wait.
    bool receive(std::string& text);
    // Waits until there is something to receive, or for this many seconds.
    void wait(double seconds) const;

private:
    int channel_;
    std::mutex mutex_;
};

// For a process that runs an author's code: it ends with its parent, and reports a fatal signal first, as
// {"signal":11,"object":...,"offset":4711} with the path of the shared object in hexadecimal digits and the position
// in it. SIGUSR1 reports the same and continues. Faults of a checked build are reported in the same way
// (nacelle/device/episode/fault.h).
void report_crashes(int channel);

}
