#include "engine/jit/source_watch.h"

#include "engine/base/error.h"
#include "engine/jit/folder_events.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;
using WallClock = std::chrono::system_clock;
using std::chrono::milliseconds;

// An editor's save is a few events within a millisecond or two; who saves without end is heard all the
// same. Between events, too, a look now and then: some network file systems send none, and a folder
// above may be replaced as a whole.
constexpr milliseconds quiet{20}, longest_wait{200}, between_sweeps{1000}, between_polls{30};
// Who writes into the file itself empties it first; a busy machine may take its time before the text follows.
constexpr milliseconds empty_at_most{500};

WallClock::time_point time_of(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return WallClock::time_point(std::chrono::duration_cast<WallClock::duration>(
        std::chrono::seconds(status.st_mtim.tv_sec) +
        std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
}

const SourceFile* find_in(const std::vector<SourceFile>& files, const std::filesystem::path& path) {
    for (const SourceFile& file : files)
        if (file.path == path) return &file;
    return nullptr;
}

}

bool same_text(const std::vector<SourceFile>& a, const std::vector<SourceFile>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const SourceFile& x, const SourceFile& y) {
                          return x.path == y.path && x.text == y.text;
                      });
}

class SourceWatch::Eyes final {
public:
    Eyes(std::filesystem::path author, std::vector<SourceFile> known,
         std::function<void(SavedSource)> saved, Way way)
        : author_(std::move(author)),
          known_(std::move(known)),
          saved_(std::move(saved)),
          wanted_(way),
          stop_(::eventfd(0, EFD_CLOEXEC)) {
        if (stop_.get() < 0) throw Error("source watch", "the system has no descriptor left");
        seen_ = WallClock::now();
        follow();
    }

    void stop() const {
        const uint64_t one = 1;
        if (::write(stop_.get(), &one, sizeof one) != sizeof one) std::terminate();
    }
    Way way() const { return way_; }

    void run() {
        for (;;) {
            const milliseconds wait = way_ == Way::events ? between_sweeps : between_polls;
            const Wake wake = sleep(wait);
            if (wake == Wake::stop) return;
            if (wake == Wake::event && !settle()) return;
            look(wake == Wake::event);
        }
    }

private:
    enum class Wake { stop, event, time };

    Wake sleep(milliseconds wait) {
        pollfd both[] = {{stop_.get(), POLLIN, 0},
                         {way_ == Way::events ? events_.descriptor() : -1, POLLIN, 0}};
        ::poll(both, 2, static_cast<int>(wait.count()));
        if (both[0].revents) return Wake::stop;
        return both[1].revents && events_.take() ? Wake::event : Wake::time;
    }

    // Until a moment has passed without another event; false where the watch ends.
    bool settle() {
        const Clock::time_point end = Clock::now() + longest_wait;
        while (Clock::now() < end) {
            const Wake wake = sleep(quiet);
            if (wake == Wake::stop) return false;
            if (wake == Wake::time) break;
        }
        return true;
    }

    // The files, once they are the same at two looks and none was just emptied: half of a save is none. Nothing where the author's
    // own cannot be read, which has vanished for the moment, or where the watch ends.
    std::optional<std::vector<SourceFile>> files_at_rest(bool settled) {
        try {
            std::vector<SourceFile> files = read_closure(author_);
            if (same_text(files, known_)) return files;
            const Clock::time_point patience = Clock::now() + empty_at_most;
            for (milliseconds wait = vanished(files) || emptied(files) ? 2 * quiet
                                     : settled                         ? milliseconds(0)
                                                                       : quiet;
                 wait.count() > 0;) {
                if (sleep(wait) == Wake::stop) return std::nullopt;
                std::vector<SourceFile> later = read_closure(author_);
                const bool rests = same_text(files, later);
                files = std::move(later);
                if (rests && (!emptied(files) || Clock::now() > patience)) break;
            }
            return files;
        } catch (const std::exception&) {
            return std::nullopt;
        }
    }
    bool vanished(const std::vector<SourceFile>& files) const {
        return std::any_of(known_.begin(), known_.end(), [&](const SourceFile& file) {
            std::error_code ignored;
            return !find_in(files, file.path) && !std::filesystem::exists(file.path, ignored);
        });
    }

    bool emptied(const std::vector<SourceFile>& files) const {
        return std::any_of(files.begin(), files.end(), [&](const SourceFile& file) {
            const SourceFile* const before = find_in(known_, file.path);
            return file.text.empty() && before && !before->text.empty();
        });
    }

    void look(bool settled) {
        const WallClock::time_point now = WallClock::now();
        std::optional<std::vector<SourceFile>> files = files_at_rest(settled);
        if (!files || same_text(*files, known_)) {
            if (files) seen_ = now;
            return follow();
        }
        // A file moved here may be of any age; it was not here at the look before.
        WallClock::time_point saved = seen_;
        for (const SourceFile& file : *files) {
            const SourceFile* const before = find_in(known_, file.path);
            if (!before || before->text != file.text)
                saved = std::max(saved, std::min(WallClock::now(), time_of(file.path)));
        }
        known_ = *files;
        seen_ = now;
        follow();
        saved_({std::move(*files), saved});
    }

    // The folders of the files as they are now, which includes may have changed.
    void follow() {
        std::set<std::filesystem::path> files{author_};
        for (const SourceFile& file : known_) files.insert(file.path);
        const bool heard = wanted_ == Way::events && events_.watch(folders_of(files));
        way_ = heard ? Way::events : Way::polling;
    }

    std::filesystem::path author_;
    std::vector<SourceFile> known_;
    std::function<void(SavedSource)> saved_;
    Way wanted_;
    std::atomic<Way> way_ = Way::polling;
    Descriptor stop_;
    FolderEvents events_;
    WallClock::time_point seen_;    // when the files were last looked at
};

SourceWatch::SourceWatch(const std::filesystem::path& author, std::vector<SourceFile> known,
                         std::function<void(SavedSource)> saved, Way way)
    : eyes_(std::make_unique<Eyes>(std::filesystem::absolute(author).lexically_normal(),
                                   std::move(known), std::move(saved), way)),
      thread_([this] { eyes_->run(); }) {}

SourceWatch::~SourceWatch() {
    eyes_->stop();
    thread_.join();
}

SourceWatch::Way SourceWatch::way() const { return eyes_->way(); }

}
