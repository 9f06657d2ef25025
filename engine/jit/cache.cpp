#include "engine/jit/cache.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/other_writer.h"
#include "engine/jit/cache_trim.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t version = 2;

struct EntryHeader {
    char magic[8];
    uint32_t version;
    uint32_t header_size;
    uint64_t length;
    char checksum[32];
};

EntryHeader header_of(const std::string& key, std::string_view bytes) {
    EntryHeader header{};
    static_assert(entry_magic.size() == sizeof header.magic);
    std::memcpy(header.magic, entry_magic.data(), sizeof header.magic);
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

// Files in a cache are executed, possibly by root: nobody else may have put them there.
void require_own(const fs::path& directory) {
    const char* const instead = "set XDG_CACHE_HOME or TMPDIR to a directory of your own";
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        throw Error(directory.string(), "is no directory", instead);
    if (status.st_uid != ::geteuid())
        throw Error(directory.string(), "belongs to somebody else", instead);
    if ((status.st_mode & 022) != 0)
        throw Error(directory.string(), "can be written by others",
                    "what lies there may be theirs: remove it, or " + std::string(instead));
    if (const std::string other = other_writer(directory); !other.empty())
        throw Error(directory.string(), other, instead);
}

// The folder for temporary files; a default where $TMPDIR is not usable.
fs::path temporary_folder() {
    std::error_code trouble;
    const fs::path folder = fs::temp_directory_path(trouble);
    return trouble ? fs::path("/tmp") : folder;
}
// Among everybody's temporary files.
fs::path private_name() { return temporary_folder() / ("nacelle-" + std::to_string(::geteuid())); }

// The directory itself may be reached through a link of the user's own.
fs::path real_path(const fs::path& path) {
    std::error_code trouble;
    const fs::path real = fs::canonical(path, trouble);
    return trouble ? path : real;
}

}

fs::path Cache::default_directory() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/')
        return fs::path(cache) / "nacelle";
    if (const char* home = std::getenv("HOME"); home && home[0] == '/')
        return fs::path(home) / ".cache" / "nacelle";
    return private_name();
}

Cache::Cache(fs::path directory, size_t bound_bytes)
    : directory_(std::move(directory)), bound_bytes_(bound_bytes) {
    try {
        make_private_directory(directory_);
        make_private_directory(directory_ / "files");
        require_own(directory_ == private_name() ? directory_ : real_path(directory_));
        require_own(directory_ / "files");
        if (::access(directory_.c_str(), W_OK | X_OK) != 0 ||
            ::access((directory_ / "files").c_str(), W_OK | X_OK) != 0)
            throw Error(directory_.string(), "cannot be written");
        // A user who can open the folder of compiles can lock the folder.
        std::error_code ignored;
        fs::permissions(directory_ / "files", fs::perms::owner_all, ignored);
        writable_ = true;
    } catch (const Error& error) {
        trouble_ = error.what();
    }
}

std::optional<std::string> Cache::find(const std::string& key) {
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
    return std::string(bytes);
}

bool Cache::keep(const std::string& key, std::string_view bytes) {
    require_name(key);
    if (!writable_) return false;
    const EntryHeader header = header_of(key, bytes);
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    file += bytes;
    try {
        write_cached_file(directory_ / key, file);
    } catch (const Error& error) {
        note(error.what());
        return false;
    }
    if (may_be_full(file.size())) trim_cache(directory_, directory_ / key, bound_bytes_);
    return true;
}

// Looking through thousands of files would take longer than all else of a save: it is done for the first entry that
// this process keeps, and then for each sixteenth of the bound.
bool Cache::may_be_full(size_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool look = !kept_ || *kept_ + bytes > bound_bytes_ / 16;
    kept_ = look ? 0 : *kept_ + bytes;
    return look;
}

bool Cache::empty() const {
    std::error_code trouble;
    for (fs::directory_iterator i(directory_, trouble), end; !trouble && i != end;
         i.increment(trouble))
        if (i->path().filename() != "files") return false;
    return true;
}

fs::path Cache::files() const { return writable_ ? directory_ / "files" : private_files(); }

fs::path Cache::private_files() {
    fs::path place = private_name();
    make_private_directory(place);
    require_own(place);
    return place;
}

fs::path Cache::materialise(const std::string& name, std::string_view bytes) {
    require_name(name);
    const fs::path asked(name);
    const std::string file =
        asked.stem().string() + "-" + Hash().add(bytes).hex() + asked.extension().string();
    const auto place = [&](const fs::path& directory) {
        const fs::path path = directory / file;
        std::error_code trouble;
        // Compares the content, not only the size: opening a damaged shared object crashes the process.
        if (fs::file_size(path, trouble) != bytes.size() || trouble || read_file(path) != bytes)
            write_cached_file(path, bytes);
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
    return place(private_files());
}

std::string Cache::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Cache::note(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (trouble_.empty()) trouble_ = reason;
}

}
