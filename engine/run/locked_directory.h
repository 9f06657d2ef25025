#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>

namespace nacelle {

// Locks a directory for this process, as long as the descriptor lives. Throws where another one has locked it.
Descriptor lock_directory(const std::filesystem::path& path);
// Whether a process trains in the directory.
bool is_locked(const std::filesystem::path& path);

struct LockedDirectory {
    std::filesystem::path path;
    Descriptor lock;
    bool made = false;    // it did not exist
};
// Makes the directory, unless it exists, and locks it. No other user can open, and so lock, a new one before.
LockedDirectory make_locked_directory(const std::filesystem::path& path);
// Makes the first of stem-1, stem-2, ... that does not exist, in the same way.
LockedDirectory make_next_directory(const std::filesystem::path& stem);

}
