#pragma once
#include "engine/supervised/parent.h"
#include "engine/watch/viewer.h"

#include <atomic>

namespace nacelle {

// Those who look are in the process that has started this one: a section is a line on its channel, its
// name and its JSON; what comes from there is a command, or the word "look".
class LineViewer final : public Viewer {
public:
    explicit LineViewer(int channel) : parent_(channel) {}

    bool wants_picture() override { return wanted_; }
    void show(const std::string& section, std::string json) override;
    // Where the other process has gone, the last one is quit.
    std::vector<Json> commands() override;
    void may_take_long() override { show("busy", "true"); }
    // What came next, a compiler's work, is done.
    void goes_on() { show("busy", "false"); }
    // Until something is asked for, or so many seconds have passed.
    void wait(double seconds) const { parent_.wait(seconds); }

private:
    Parent parent_;
    std::string text_;
    std::atomic<bool> wanted_ = false;
};

}
