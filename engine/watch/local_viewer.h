#pragma once
#include "engine/watch/viewer.h"
#include "engine/web/sections.h"

#include <atomic>
#include <mutex>

namespace nacelle {

// A viewer in this process.
class LocalViewer final : public Viewer {
public:
    explicit LocalViewer(Sections& sections) : sections_(sections) {}

    // Requests a picture; adds a command. From any thread. Ignores text that is not an object with "do", and commands
    // beyond a limit.
    void look() { wanted_ = true; }
    void ask(const std::string& text);

    bool wants_picture() override { return wanted_; }
    void show(const std::string& section, std::string json) override;
    std::vector<Json> commands() override;

private:
    Sections& sections_;
    std::atomic<bool> wanted_ = false, asked_ = false;
    std::mutex mutex_;
    std::vector<Json> commands_;
};

// Parses a page's message as a command; null where it is none.
Json read_command(const std::string& text);

}
