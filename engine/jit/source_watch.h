#pragma once
#include "engine/jit/author_source.h"

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace nacelle {

// A version of an author's files, read at one moment.
struct SavedSource {
    std::vector<SourceFile> files;                  // the author's own first
    std::chrono::system_clock::time_point saved;    // the latest time among those that changed
    std::string refused = {};    // the reason if this version must not be compiled
};

// Reports when the text of an author's file, or of a file that it includes with quotes, changes: by inotify, or by
// polling every 30 milliseconds where inotify is not available. Files may be saved by rename, vanish for a moment,
// or be symbolic links.
class SourceWatch final {
public:
    enum class Way { events, polling };
    // `saved` is called on the thread of the watch, a moment after the last of a series of saves (the constants in
    // source_watch.cpp). `known` is the version that is not reported.
    SourceWatch(const std::filesystem::path& author, std::vector<SourceFile> known,
                std::function<void(SavedSource)> saved, Way way = Way::events);
    ~SourceWatch();
    SourceWatch(const SourceWatch&) = delete;
    SourceWatch& operator=(const SourceWatch&) = delete;

    // Polling also where events were asked for and the system has none left.
    Way way() const;

private:
    class Worker;
    std::unique_ptr<Worker> worker_;
    std::thread thread_;
};

}
