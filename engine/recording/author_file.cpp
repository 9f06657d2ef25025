#include "engine/recording/author_file.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/env/find_environment.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

class Search final {
public:
    explicit Search(const Recording& recording) : recording_(recording) {}

    // True if the file is the recorded one; otherwise keeps the reason.
    bool looks_right(const fs::path& named) {
        std::error_code trouble;
        if (!fs::is_regular_file(named, trouble)) return false;
        const fs::path file = fs::absolute(named).lexically_normal();
        // Its includes may be many and large: they are read only if it is nobody else's, and the recorded one.
        if (is_strangers({{file, ""}}) || !was_recorded(file)) return false;
        const std::vector<SourceFile> closure = read_closure(file);
        const auto& versions = recording_.versions();
        if (std::find(versions.begin(), versions.end(), recorded_hashes(closure)) ==
            versions.end()) {
            another_ = true;
            return false;
        }
        return !is_strangers(closure);
    }
    std::string why_not() const {
        if (!unsafe_.empty()) return unsafe_ + ", so that its draw() is not used";
        return another_ ? "is another one than was recorded, so that its draw() is not used"
                        : "was not found, so that there is no draw()";
    }

private:
    bool is_strangers(const std::vector<SourceFile>& files) {
        const Stranger other = stranger_among(files);
        if (!other.reason.empty()) unsafe_ = other.file.string() + " " + other.reason;
        return !other.reason.empty();
    }
    // Whether the file itself, whatever it includes, is one of a recorded version.
    bool was_recorded(const fs::path& file) {
        const std::string hash = Hash().add(read_plain_file(file)).hex();
        const auto& versions = recording_.versions();
        const bool found = std::any_of(versions.begin(), versions.end(), [&](const auto& files) {
            const auto its = files.find(file.filename().string());
            return its != files.end() && its->second == hash;
        });
        another_ |= !found;
        return found;
    }

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

fs::path find_author_file(const Recording& recording, const std::vector<fs::path>& folders) {
    const std::string& name = recording.header().source;
    Search search(recording);
    for (const fs::path& folder : folders)
        if (search.looks_right(folder / name)) return folder / name;
    throw Error(name, search.why_not(), "--source FILE names it");
}

}
