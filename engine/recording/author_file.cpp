#include "engine/recording/author_file.h"

#include "engine/base/error.h"
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
    bool looks_right(const fs::path& file) {
        std::error_code trouble;
        if (!fs::is_regular_file(file, trouble)) return false;
        const std::vector<SourceFile> closure = read_closure(file);
        const auto& versions = recording_.versions();
        if (std::find(versions.begin(), versions.end(), recorded_hashes(closure)) ==
            versions.end()) {
            another_ = true;
            return false;
        }
        const Stranger other = stranger_among(closure);
        if (other.reason.empty()) return true;
        unsafe_ = other.file.string() + " " + other.reason;
        return false;
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

fs::path find_author_file(const Recording& recording, const std::vector<fs::path>& folders) {
    const std::string& name = recording.header().source;
    Search search(recording);
    for (const fs::path& folder : folders)
        if (search.looks_right(folder / name)) return folder / name;
    throw Error(name, search.why_not(), "--source FILE names it");
}

}
