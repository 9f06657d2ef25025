#include "engine/jit/folder_events.h"

#include <sys/inotify.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

// Every way in which a save ends, and the removal of the folder. Not each write: most files are complete only when
// they are closed.
constexpr uint32_t interesting = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                 IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// The limit of the kernel on chains of symbolic links.
constexpr int most_links = 40;

}

FolderEvents::FolderEvents() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

bool FolderEvents::watch(const std::set<fs::path>& folders) {
    if (events_.get() < 0) return false;
    for (auto at = watched_.begin(); at != watched_.end();) {
        const bool wanted = folders.contains(at->first);
        if (!wanted) ::inotify_rm_watch(events_.get(), at->second);
        at = wanted ? std::next(at) : watched_.erase(at);
    }
    bool all = true;
    for (const fs::path& folder : folders) {
        // Added each time: the path may lead to another folder by now.
        const int number = ::inotify_add_watch(events_.get(), folder.c_str(), interesting);
        std::error_code ignored;
        if (number >= 0) watched_[folder] = number;
        else if (fs::is_directory(folder, ignored)) all = false;
    }
    return all;
}

bool FolderEvents::take() {
    alignas(inotify_event) char buffer[16384];
    bool any = false;
    while (::read(events_.get(), buffer, sizeof buffer) > 0) any = true;
    return any;
}

std::set<fs::path> folders_of(const std::set<fs::path>& files) {
    std::set<fs::path> folders;
    for (fs::path file : files)
        for (int i = 0; i < most_links; ++i) {
            folders.insert(file.parent_path());
            std::error_code trouble;
            const fs::path target = fs::read_symlink(file, trouble);
            if (trouble) break;
            file = (file.parent_path() / target).lexically_normal();
        }
    return folders;
}

}
