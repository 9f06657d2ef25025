#include "engine/jit/cache.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = {'N', 'A', 'C', 'E', 'L', 'L', 'E', 'C'};
constexpr uint32_t version = 1;

struct EntryHeader {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint64_t length;
    char checksum[32];
};

EntryHeader header_of(const std::string& key, std::string_view bytes) {
    EntryHeader header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = version;
    header.header_size = sizeof header;
    header.length = bytes.size();
    const std::string checksum = Hash().add(key).add(bytes).hex();
    std::memcpy(header.checksum, checksum.data(),
                std::min(checksum.size(), sizeof header.checksum));
    return header;
}

void require_name(const std::string& name) {
    if (name.empty() || name.front() == '.' || name.find('/') != name.npos)
        throw Error("cache", "'" + name + "' is not a file's name");
}

void touch(const fs::path& path) {
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
}

// This user's own directory among everybody's temporary files; a stranger's is never used.
fs::path private_place() {
    const fs::path place = fs::temp_directory_path() / ("nacelle-" + std::to_string(::geteuid()));
    make_private_directory(place);
    struct stat status {};
    if (::lstat(place.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != ::geteuid())
        throw Error(place.string(), "belongs to somebody else",
                    "set TMPDIR to a directory of your own");
    if ((status.st_mode & 077) != 0 && ::chmod(place.c_str(), 0700) != 0)
        throw Error(place.string(), "is open to others", "set TMPDIR to a directory of your own");
    return place;
}

struct Kept {
    fs::path path;
    fs::file_time_type used;
    uintmax_t bytes = 0;
};

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

// What lies in the cache and may go; all of it counts into `total`. A materialised file is opened
// by path moments after it is made, here or in another process, and a hidden one is just being
// written: young ones of both stay.
std::vector<Kept> removable(const fs::path& directory, uintmax_t& total) {
    std::vector<Kept> found;
    const auto young = fs::file_time_type::clock::now() - std::chrono::minutes(10);
    const fs::path files = directory / "files";
    for (const fs::path& place : {directory, files}) {
        std::error_code trouble;
        for (fs::directory_iterator i(place, trouble), end; !trouble && i != end;
             i.increment(trouble)) {
            std::error_code gone;
            const auto used = i->last_write_time(gone);
            if (gone || i->path() == files) continue;
            const uintmax_t bytes = size_of(*i);
            total += bytes;
            const bool entry =
                place == directory && !i->path().filename().string().starts_with('.');
            if (entry || used <= young) found.push_back({i->path(), used, bytes});
        }
    }
    return found;
}

}

fs::path Cache::default_directory() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/')
        return fs::path(cache) / "nacelle";
    if (const char* home = std::getenv("HOME"); home && home[0] == '/')
        return fs::path(home) / ".cache" / "nacelle";
    return fs::temp_directory_path() / ("nacelle-" + std::to_string(::geteuid()));
}

Cache::Cache(fs::path directory, size_t bound_bytes)
    : directory_(std::move(directory)), bound_bytes_(bound_bytes) {
    try {
        make_private_directory(directory_);
        make_private_directory(directory_ / "files");
        struct stat status {};
        const bool foreign = ::stat(directory_.c_str(), &status) == 0 &&
                             status.st_uid != ::geteuid() && ::geteuid() != 0;
        // What is found here is run: only from whom we trust.
        if (foreign) throw Error(directory_.string(), "belongs to somebody else");
        if (::access(directory_.c_str(), W_OK | X_OK) != 0 ||
            ::access((directory_ / "files").c_str(), W_OK | X_OK) != 0)
            throw Error(directory_.string(), "cannot be written");
        writable_ = true;
    } catch (const Error& error) {
        trouble_ = error.what();
    }
}

std::optional<std::vector<std::byte>> Cache::find(const std::string& key) {
    require_name(key);
    const fs::path path = directory_ / key;
    std::error_code trouble;
    if (!writable_ || !fs::is_regular_file(path, trouble)) return std::nullopt;
    std::string file;
    try {
        file = read_file(path);
    } catch (const Error&) {
        return std::nullopt;    // gone since, or not readable
    }
    const std::string_view bytes =
        std::string_view(file).substr(std::min(file.size(), sizeof(EntryHeader)));
    const EntryHeader expected = header_of(key, bytes);
    if (file.size() < sizeof expected ||
        std::memcmp(file.data(), &expected, sizeof expected) != 0) {
        fs::remove(path, trouble);
        return std::nullopt;
    }
    touch(path);
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    return std::vector<std::byte>(begin, begin + bytes.size());
}

bool Cache::keep(const std::string& key, std::string_view bytes) {
    require_name(key);
    if (!writable_) return false;
    const EntryHeader header = header_of(key, bytes);
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    file += bytes;
    try {
        write_file(directory_ / key, file);
    } catch (const Error& error) {
        note(error.what());
        return false;
    }
    trim(directory_ / key);
    return true;
}

bool Cache::empty() const {
    std::error_code trouble;
    for (fs::directory_iterator i(directory_, trouble), end; !trouble && i != end;
         i.increment(trouble))
        if (i->path().filename() != "files") return false;
    return true;
}

fs::path Cache::files() {
    if (writable_) return directory_ / "files";
    return private_place();
}

fs::path Cache::materialise(const std::string& name, std::string_view bytes) {
    require_name(name);
    const fs::path asked(name);
    const std::string file =
        asked.stem().string() + "-" + Hash().add(bytes).hex() + asked.extension().string();
    const auto place = [&](const fs::path& directory) {
        const fs::path path = directory / file;
        std::error_code trouble;
        // Compared, not only measured: a damaged shared object crashes whoever opens it.
        if (fs::file_size(path, trouble) != bytes.size() || trouble || read_file(path) != bytes)
            write_file(path, bytes);
        else touch(path);
        return path;
    };
    if (writable_) {
        try {
            return place(directory_ / "files");
        } catch (const Error& error) {
            note(error.what());
        }
    }
    return place(private_place());
}

std::string Cache::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Cache::note(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (trouble_.empty()) trouble_ = reason;
}

// Removes what was not used for longest until the rest fits.
void Cache::trim(const fs::path& newest) {
    uintmax_t total = 0;
    std::vector<Kept> old = removable(directory_, total);
    if (total <= bound_bytes_) return;
    std::sort(old.begin(), old.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
    for (const Kept& kept : old) {
        if (total <= bound_bytes_) break;
        if (kept.path == newest) continue;
        std::error_code ignored;
        fs::remove_all(kept.path, ignored);
        total -= kept.bytes;
    }
}

}
