#pragma once
#include "engine/watch/viewer.h"
#include "engine/web/board.h"

#include <atomic>
#include <mutex>

namespace nacelle {

// Those who look at a board of this process.
class BoardViewer final : public Viewer {
public:
    explicit BoardViewer(Board& board) : board_(board) {}

    // From any thread: somebody wants a picture; somebody asks for something. What is no object with "do"
    // is passed over, and so is what comes while too much waits already.
    void look() { wanted_ = true; }
    void ask(const std::string& text);

    bool wants_picture() override { return wanted_; }
    void show(const std::string& section, std::string json) override;
    std::vector<Json> commands() override;

private:
    Board& board_;
    std::atomic<bool> wanted_ = false, asked_ = false;
    std::mutex mutex_;
    std::vector<Json> commands_;
};

// A command out of a page's words, or null.
Json read_command(const std::string& text);

}
