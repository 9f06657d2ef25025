#pragma once
#include "engine/supervised/parent.h"
#include "engine/watch/viewer.h"

#include <atomic>

namespace nacelle {

// A viewer in the parent process: a section is a line on the channel, its name and its JSON; a received line is a
// command, or the word "look".
class ChannelViewer final : public Viewer {
public:
    explicit ChannelViewer(int channel) : parent_(channel) {}

    bool wants_picture() override { return wanted_; }
    void show(const std::string& section, std::string json) override;
    // After the parent has closed the channel the last command is quit.
    std::vector<Json> commands() override;
    void may_take_long() override { show("busy", "true"); }
    // The compiler is done.
    void goes_on() { show("busy", "false"); }
    // Waits for a command, or for this many seconds.
    void wait(double seconds) const { parent_.wait(seconds); }

private:
    Parent parent_;
    std::string text_;
    std::atomic<bool> wanted_ = false;
};

}
