#include "engine/compile/compilable_path.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

bool lies_there(const std::vector<SourceFile>& files) {
    try {
        return same_text(read_closure(files.front().path), files);
    } catch (const Error&) {
        return false;
    }
}

bool has_text(const fs::path& path, const std::string& text) {
    std::error_code none;
    return fs::is_regular_file(path, none) && read_file(path) == text;
}

// The number of levels that a file lies above the author's folder.
std::ptrdiff_t levels_above(const fs::path& relative) {
    return std::count(relative.begin(), relative.end(), fs::path(".."));
}

}

fs::path compilable_path(RunsOn& on, const std::vector<SourceFile>& files) {
    return lies_there(files) ? files.front().path : copied_path(on, files);
}

fs::path copied_path(RunsOn& on, const std::vector<SourceFile>& files) {
    const fs::path& author = files.front().path;
    // Includes name each other by relative paths, which may lead above the author's folder.
    const fs::path from = author.parent_path();
    std::ptrdiff_t above = 0;
    Hash hash;
    for (const SourceFile& file : files) {
        const fs::path relative = file.path.lexically_relative(from);
        above = std::max(above, levels_above(relative));
        hash.add(relative.string()).add(file.text);
    }
    const fs::path copy = on.cache->files() / ("source-" + hash.hex());
    // First of all: to make room, the cache removes a copy that was not used for a while, in other processes, too.
    make_private_directory(copy);
    touch(copy);
    fs::path folder = copy;
    for (std::ptrdiff_t i = 0; i < above; ++i) folder /= "below";
    for (const SourceFile& file : files) {
        const fs::path place = (folder / file.path.lexically_relative(from)).lexically_normal();
        if (has_text(place, file.text)) continue;    // the programs of a version share its copy
        make_private_directory(place.parent_path());
        write_cached_file(place, file.text);
    }
    return folder / author.filename();
}

}
