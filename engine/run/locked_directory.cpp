#include "engine/run/locked_directory.h"

#include "engine/base/error.h"
#include "engine/run/directory.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

// Creating a directory claims its name: only one of two processes succeeds.
bool make_private(const fs::path& path) { return ::mkdir(path.c_str(), 0700) == 0; }

// Gives a private directory the mode that its folders get: umask and access control lists have a say in it.
void open_to_others(const Descriptor& directory) {
    constexpr const char* probe = ".nacelle-mode";
    struct stat status {};
    if (::mkdirat(directory.get(), probe, 0777) != 0) return;
    const bool seen = ::fstatat(directory.get(), probe, &status, AT_SYMLINK_NOFOLLOW) == 0;
    ::unlinkat(directory.get(), probe, AT_REMOVEDIR);
    if (seen) ::fchmod(directory.get(), status.st_mode & 07777);
}

LockedDirectory locked(const fs::path& path, bool made) {
    LockedDirectory directory{.path = path, .lock = lock_directory(path), .made = made};
    if (made) open_to_others(directory.lock);
    return directory;
}

}

// The directory itself is locked: a killed process leaves no lock file. is_locked() holds it for a moment.
Descriptor lock_directory(const fs::path& path) {
    Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.get() < 0) throw Error(path.string(), "is no directory that can be read");
    for (int tries = 10; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;) {
        if (--tries == 0)
            throw Error(path.string(),
                        "another process is training in it, or another run of this one");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return lock;
}

bool is_locked(const fs::path& path) {
    const Descriptor probe(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return probe.get() >= 0 && ::flock(probe.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

LockedDirectory make_locked_directory(const fs::path& path) {
    // Without a slash at its end, which would make it its own parent.
    const fs::path named = path.has_filename() ? path : path.parent_path();
    if (named.has_parent_path()) make_directory(named.parent_path());
    return locked(path, make_private(named) || make_directory(path));
}

LockedDirectory make_next_directory(const fs::path& stem) {
    if (stem.has_parent_path()) make_directory(stem.parent_path());
    for (uint64_t number = 1;; ++number) {
        const fs::path path = stem.string() + "-" + std::to_string(number);
        if (make_private(path)) return locked(path, true);
        if (errno != EEXIST)
            throw Error(path.string(), "cannot be made: " + std::generic_category().message(errno));
    }
}

}
