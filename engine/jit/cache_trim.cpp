#include "engine/jit/cache_trim.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/jit/compile_folder.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

struct Kept {
    fs::path path;
    fs::file_time_type used;
    uintmax_t bytes = 0;
    bool looks_like_entry = false;
};

// "tag-" and 32 digits of the content's hash with any extension: a materialised file, or the folder of the SDK's
// headers.
bool is_named_by_content(const fs::path& path) {
    const std::string name = path.stem().string();
    const size_t dash = name.rfind('-');
    return dash != name.npos && is_hex(std::string_view(name).substr(dash + 1), 32);
}

bool is_entry(const fs::path& path) {
    char bytes[entry_magic.size()];
    std::ifstream file(path, std::ios::binary);
    file.read(bytes, sizeof bytes);
    const std::string_view begin(bytes, size_t(file.gcount()));
    if (begin == entry_magic) return true;
    // Entries wait for no disk: where the power went before it had one, zeros or nothing lie under its name, a hash.
    return is_hex(path.filename().string(), 32) && !file.bad() &&
           begin.find_first_not_of('\0') == begin.npos;
}

uintmax_t size_of(const fs::directory_entry& entry) {
    std::error_code trouble;
    if (!entry.is_directory(trouble)) {
        const uintmax_t bytes = entry.file_size(trouble);
        return trouble ? 0 : bytes;
    }
    uintmax_t sum = 0;
    for (fs::recursive_directory_iterator i(entry.path(), trouble), end; !trouble && i != end;
         i.increment(trouble)) {
        std::error_code gone;
        const bool file = i->is_regular_file(gone);
        const uintmax_t bytes = file ? i->file_size(gone) : 0;
        if (!gone) sum += bytes;
    }
    return sum;
}

// Collects the files of a cache and adds their sizes to `total`. Young materialised and unfinished files stay: a
// process is about to open or is still writing them.
std::vector<Kept> removable(const fs::path& directory, uintmax_t& total) {
    std::vector<Kept> found;
    const auto young = fs::file_time_type::clock::now() - std::chrono::minutes(10);
    const fs::path files = directory / "files";
    for (const fs::path& place : {directory, files}) {
        std::error_code trouble;
        for (fs::directory_iterator i(place, trouble), end; !trouble && i != end;
             i.increment(trouble)) {
            std::error_code gone;
            const bool file = i->symlink_status(gone).type() == fs::file_type::regular;
            const auto used = i->last_write_time(gone);
            if (gone) continue;
            const bool among_files = place == files;
            const bool unfinished = (file && is_unfinished_file(i->path())) ||
                                    (among_files && is_compile_folder(i->path()));
            const bool materialised = among_files && is_named_by_content(i->path());
            const bool entry = file && !among_files && !unfinished;
            if (!unfinished && !materialised && !entry) continue;
            const uintmax_t bytes = size_of(*i);
            total += bytes;
            if (entry || used <= young) found.push_back({i->path(), used, bytes, entry});
        }
    }
    return found;
}

}

void trim_cache(const fs::path& directory, const fs::path& newest, uintmax_t bound_bytes) {
    uintmax_t total = 0;
    std::vector<Kept> old = removable(directory, total);
    if (total <= bound_bytes) return;
    // Opens entries only now: reading thousands of cold files takes long.
    std::erase_if(old, [&](const Kept& kept) {
        const bool foreign = kept.looks_like_entry && !is_entry(kept.path);
        if (foreign) total -= kept.bytes;
        return foreign;
    });
    std::sort(old.begin(), old.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
    for (const Kept& kept : old) {
        if (total <= bound_bytes) break;
        if (kept.path == newest) continue;
        std::error_code ignored;
        // Somebody has used it meanwhile, perhaps a process that is about to open it.
        if (fs::last_write_time(kept.path, ignored) != kept.used) continue;
        fs::remove_all(kept.path, ignored);
        total -= kept.bytes;
    }
}

}
