#include "engine/base/other_writer.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr int most_links = 40;    // the system follows no more

bool is_ours(const struct stat& status) {
    return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// In a container that maps few users, the folders of the system may belong to nobody.
bool is_of_system(const struct stat& status) {
    struct stat root {};
    return ::stat("/", &root) == 0 && status.st_uid == root.st_uid;
}

// True if other users can write: all users, a group besides the user's primary group and root's, or users of an access
// control list. The mode shows the rights of such a list as rights of the group.
bool others_write(const fs::path& path, const struct stat& status) {
    if ((status.st_mode & S_IWOTH) != 0) return true;
    if ((status.st_mode & S_IWGRP) == 0) return false;
    const bool trusted_group = status.st_gid == ::getegid() || status.st_gid == 0;
    return !trusted_group || ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

// Goes down the path from the root: whoever can write a folder on the way can exchange what lies below.
std::string writer_along(const fs::path& path, int links_left) {
    fs::path at;
    std::error_code wrong;
    bool beside_others = false;
    for (auto part = path.begin(); part != path.end(); ++part) {
        at /= *part;
        struct stat status {};
        if (::lstat(at.c_str(), &status) != 0) return "cannot be looked at";
        const bool last = std::next(part) == path.end();
        const std::string below = "lies below " + at.string() + ", ";
        if (!is_ours(status) && (last || !is_of_system(status)))
            return (last ? "" : below + "which ") + "belongs to another user";
        if (last && beside_others && !fs::is_directory(path, wrong))
            return "lies in a folder where other users can write";
        if (S_ISLNK(status.st_mode)) {
            fs::path target = at.parent_path() / fs::read_symlink(at, wrong);
            if (wrong || links_left == 0) return "cannot be looked at";
            while (++part != path.end()) target /= *part;
            return writer_along(target, links_left - 1);
        }
        // In a sticky folder users remove their own entries alone, and may add any.
        beside_others = others_write(at, status);
        if (beside_others && last) return "can be written by other users";
        if (beside_others && (status.st_mode & S_ISVTX) == 0)
            return below + "where other users can write";
    }
    return {};
}

}

std::string other_writer(const fs::path& file) {
    return writer_along(fs::absolute(file), most_links);
}

}
