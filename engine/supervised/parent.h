#pragma once
#include <mutex>
#include <string>

namespace nacelle {

// The process that has started this one by run_child(), seen from here: the other end of its channel.
class Parent final {
public:
    // `channel`: the number that the command line ends with. No program that this process starts gets it.
    explicit Parent(int channel);

    // One line, from any thread. Where nobody reads any more, nothing happens.
    void say(const std::string& line);
    // What it has sent so far; false where it is gone. Waits for nothing.
    bool receive(std::string& text);
    // Until there is something to receive, or so many seconds have passed.
    void wait(double seconds) const;

private:
    int channel_;
    std::mutex mutex_;
};

// This process runs an author's code: it ends with the one that has started it, and what kills it is said first, as
// {"signal":11,"object":...,"offset":4711}: the shared object, its path in hexadecimal digits, and the place in it. SIGUSR1 makes
// it say so and go on. A checked build's faults go the same way (nacelle/device/episode/fault.h).
void report_crashes(int channel);

}
