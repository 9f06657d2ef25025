#include "engine/recording/author_file.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

bool is_ours(const struct stat& status) {
    return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// Who else could have put a file there, in words; empty where nobody could.
std::string other_writer(const fs::path& file) {
    struct stat link {
    }, status{}, folder{};
    if (::lstat(file.c_str(), &link) != 0 || ::stat(file.c_str(), &status) != 0 ||
        ::stat(file.parent_path().c_str(), &folder) != 0)
        return "cannot be looked at";
    if (!is_ours(link) || !is_ours(status)) return "belongs to another user";
    if (status.st_mode & S_IWOTH) return "can be written by other users";
    const bool anybody = (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0;
    if (!is_ours(folder) || anybody) return "lies in a folder where other users can write";
    return {};
}

class Search final {
public:
    explicit Search(const Recording& recording) : recording_(recording) {}

    // Whether the file in this folder is the recorded one; otherwise adds the reason.
    bool looks_right(const fs::path& file, bool anybody) {
        std::error_code trouble;
        if (!fs::is_regular_file(file, trouble)) return false;
        const std::vector<SourceFile> closure = read_closure(file);
        const auto& versions = recording_.versions();
        if (std::find(versions.begin(), versions.end(), recorded_hashes(closure)) ==
            versions.end()) {
            another_ = true;
            return false;
        }
        for (const SourceFile& one : closure) {
            if (anybody) break;
            const std::string other = other_writer(one.path);
            if (other.empty()) continue;
            unsafe_ = one.path.string() + " " + other;
            return false;
        }
        return true;
    }
    std::string why_not() const {
        if (!unsafe_.empty()) return unsafe_ + ", so that its draw() is not used";
        return another_ ? "is another one than was recorded, so that its draw() is not used"
                        : "was not found, so that there is no draw()";
    }

private:
    const Recording& recording_;
    std::string unsafe_;
    bool another_ = false;
};

}

std::map<std::string, std::string> recorded_hashes(const std::vector<SourceFile>& closure) {
    std::map<std::string, std::string> hashes;
    const fs::path folder = closure.front().path.parent_path();
    for (const SourceFile& file : closure)
        hashes[file.path.lexically_relative(folder).string()] = Hash().add(file.text).hex();
    return hashes;
}

fs::path find_author_file(const Recording& recording, const AuthorPlaces& places) {
    const std::string& name = recording.header().source;
    Search search(recording);
    for (const fs::path& folder : places.nearby)
        if (search.looks_right(folder / name, false)) return folder / name;
    for (const fs::path& folder : places.folders)
        if (search.looks_right(folder / name, true)) return folder / name;
    throw Error(name, search.why_not(), "--source FILE names it");
}

}
