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

// The save of an editor is a few events within a millisecond or two; endless saves are reported after `longest_wait`.
// Between events the files are checked now and then: some network file systems send no events, and a parent folder
// may be replaced.
constexpr milliseconds quiet{10}, longest_wait{200}, between_sweeps{1000}, between_polls{30};
// A program that overwrites a file truncates it first; on a busy machine the text may follow late.
constexpr milliseconds empty_at_most{500}, between_reads{20};

WallClock::time_point time_of(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return WallClock::time_point(std::chrono::duration_cast<WallClock::duration>(
        std::chrono::seconds(status.st_mtim.tv_sec) +
        std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
}

}

class SourceWatch::Worker final {
public:
    Worker(std::filesystem::path author, std::vector<SourceFile> known,
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
            if (wake == Wake::event && !wait_until_quiet()) return;
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

    // Waits until no event has come for a moment; false where the watch ends.
    bool wait_until_quiet() {
        const Clock::time_point end = Clock::now() + longest_wait;
        while (Clock::now() < end) {
            const Wake wake = sleep(quiet);
            if (wake == Wake::stop) return false;
            if (wake == Wake::time) break;
        }
        return true;
    }

    // The files, once none has vanished or was just truncated: those that come without a quiet moment before are read
    // until two reads agree. Nothing where the author's file cannot be read or where the watch ends.
    std::optional<std::vector<SourceFile>> stable_files(bool was_quiet) {
        try {
            std::vector<SourceFile> files = read_closure(author_);
            if (same_text(files, known_)) return files;
            const Clock::time_point patience = Clock::now() + empty_at_most;
            for (milliseconds wait = vanished(files) || emptied(files) ? 2 * between_reads
                                     : was_quiet                       ? milliseconds(0)
                                                                       : between_reads;
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
            return !find_file(files, file.path) && !std::filesystem::exists(file.path, ignored);
        });
    }

    bool emptied(const std::vector<SourceFile>& files) const {
        return std::any_of(files.begin(), files.end(), [&](const SourceFile& file) {
            const SourceFile* const before = find_file(known_, file.path);
            return file.text.empty() && before && !before->text.empty();
        });
    }

    void look(bool was_quiet) {
        const WallClock::time_point now = WallClock::now();
        std::optional<std::vector<SourceFile>> files = stable_files(was_quiet);
        if (!files || same_text(*files, known_)) {
            if (files) seen_ = now;
            return follow();
        }
        // A file that was moved here may be of any age; it was not here at the previous check.
        WallClock::time_point saved = seen_;
        for (const SourceFile& file : *files) {
            const SourceFile* const before = find_file(known_, file.path);
            if (!before || before->text != file.text)
                saved = std::max(saved, std::min(WallClock::now(), time_of(file.path)));
        }
        known_ = *files;
        seen_ = now;
        follow();
        saved_({std::move(*files), saved});
    }

    // Watches the folders of the current files, which includes may have changed.
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
    : worker_(std::make_unique<Worker>(std::filesystem::absolute(author).lexically_normal(),
                                       std::move(known), std::move(saved), way)),
      thread_([this] { worker_->run(); }) {}

SourceWatch::~SourceWatch() {
    worker_->stop();
    thread_.join();
}

SourceWatch::Way SourceWatch::way() const { return worker_->way(); }

}
