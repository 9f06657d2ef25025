#include "engine/base/other_writer.h"

#include <sys/stat.h>
#include <unistd.h>

namespace nacelle {
namespace {

bool is_ours(const struct stat& status) {
    return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// True if a group that is neither this user's primary group nor root's can write.
bool group_writes(const struct stat& status) {
    return (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid() && status.st_gid != 0;
}

}

std::string other_writer(const std::filesystem::path& file) {
    struct stat link {
    }, status{}, folder{};
    if (::lstat(file.c_str(), &link) != 0 || ::stat(file.c_str(), &status) != 0 ||
        ::stat(file.parent_path().c_str(), &folder) != 0)
        return "cannot be looked at";
    if (!is_ours(link) || !is_ours(status)) return "belongs to another user";
    if ((status.st_mode & S_IWOTH) != 0 || group_writes(status))
        return "can be written by other users";
    const bool shared = (folder.st_mode & S_IWOTH) != 0 || group_writes(folder);
    if (!is_ours(folder) || (shared && (folder.st_mode & S_ISVTX) == 0))
        return "lies in a folder where other users can write";
    return {};
}

}
