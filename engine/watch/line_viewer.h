#pragma once
#include "engine/watch/viewer.h"

#include <atomic>
#include <mutex>

namespace nacelle {

// Those who look are in the process that has started this one: a section is a line on standard output,
// its name and its JSON; a command, or the word "look", is a line on a descriptor.
class LineViewer final : public Viewer {
public:
    explicit LineViewer(int commands);

    bool wants_picture() override { return wanted_; }
    void show(const std::string& section, std::string json) override;
    // Where the other process has gone, the last one is quit.
    std::vector<Json> commands() override;
    void may_take_long() override { show("busy", "true"); }
    // Until something is asked for, or so many seconds have passed.
    void wait(double seconds);

private:
    int commands_;
    std::string text_;
    std::atomic<bool> wanted_ = false;
    std::mutex mutex_;
};

}
