#pragma once
#include "engine/jit/scan.h"

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace nacelle {

// A version of an author's files, as they lay on the disk at one moment.
struct SavedSource {
    std::vector<SourceFile> files;                  // the author's own first
    std::chrono::system_clock::time_point saved;    // the latest time among those that changed
};

bool same_text(const std::vector<SourceFile>& a, const std::vector<SourceFile>& b);

// Tells when an author's file, or one that it includes with quotes, has another text than before: at
// once by the kernel's inotify, or by looking every few milliseconds where that cannot be had. Files
// may be saved by rename, may vanish for a moment, and may be symbolic links.
class SourceWatch final {
public:
    enum class Way { events, polling };
    // `saved` is called on the watch's own thread, at most 50 ms after the last of a row of saves;
    // `known` is the version that is not news.
    SourceWatch(const std::filesystem::path& author, std::vector<SourceFile> known,
                std::function<void(SavedSource)> saved, Way way = Way::events);
    ~SourceWatch();
    SourceWatch(const SourceWatch&) = delete;
    SourceWatch& operator=(const SourceWatch&) = delete;

    // Polling, too, where events were asked for and the system has none left to give.
    Way way() const;

private:
    class Eyes;
    std::unique_ptr<Eyes> eyes_;
    std::thread thread_;
};

}
