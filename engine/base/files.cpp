#include "engine/base/files.h"

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <system_error>

namespace nacelle {
namespace {

std::string reason(int code) {
    switch (code) {
        case ENOENT: return "does not exist";
        case EISDIR: return "is a directory";
        case ENOTDIR: return "leads through a file that is no directory";
        case EACCES:
        case EPERM: return "permission denied";
        case ENOSPC: return "the disk is full";
        case EDQUOT: return "the disk quota is used up";
        case EFBIG: return "the file is larger than the system allows";
        case EROFS: return "the disk is read-only";
        case ENAMETOOLONG: return "the name is too long";
        case EIO: return "the disk reports an error";
        default: return std::generic_category().message(code);
    }
}

[[noreturn]] void throw_errno(int code) { throw std::system_error(code, std::generic_category()); }

[[noreturn]] void cannot_write(const std::filesystem::path& path, const std::string& why) {
    throw Error(path.string(), "cannot be written: " + why);
}

constexpr std::string_view temporary_prefix = ".nacelle-";

// Opens a new file of a unique name beside the path; the name becomes `path`.
int create_beside(std::filesystem::path& path) {
    struct stat target {};
    if (::stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode))
        throw Error(path.string(), "is a device or a pipe, and a file would take its place",
                    "name a file");
    const std::filesystem::path folder = path.parent_path();
    std::random_device random;
    for (;;) {
        std::array<char, 20> digits{};
        std::snprintf(digits.data(), digits.size(), "%08x%08x", random(), random());
        path = folder / (std::string(temporary_prefix) + digits.data());
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) return file;
        if (errno != EEXIST) throw_errno(errno);
    }
}

// An unfinished file: removed unless it is renamed to its target.
class Temporary final {
public:
    explicit Temporary(const std::filesystem::path& target)
        : path_(target), file_(create_beside(path_)) {}
    ~Temporary() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw_errno(errno);
            bytes.remove_prefix(static_cast<size_t>(count));
        }
    }
    void sync() {
        if (::fsync(file_.get()) != 0) throw_errno(errno);
    }

    void rename_to(const std::filesystem::path& target) {
        if (!file_.close()) throw_errno(errno);
        if (::rename(path_.c_str(), target.c_str()) != 0) throw_errno(errno);
        path_.clear();
    }

private:
    std::filesystem::path path_;
    Descriptor file_;
};

Descriptor open_directory(const std::filesystem::path& directory) {
    return Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Syncs the directory: until then the rename is in memory only.
void sync_directory(const std::filesystem::path& directory) {
    const Descriptor opened = open_directory(directory);
    if (opened.get() >= 0) ::fsync(opened.get());
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// Runs the writing code and turns its failure into an Error.
template <class Work> void writing(const std::filesystem::path& path, Work&& work) {
    if (!path.has_filename()) cannot_write(path, "the path names no file");
    try {
        work();
    } catch (const std::system_error& error) {
        const int code = error.code().value();
        const std::string missing = "there is no directory '" + directory_of(path).string() + "'";
        cannot_write(path, code == ENOENT ? missing : reason(code));
    }
}

// Fills a new file, syncs it and renames it to the path.
template <class Fill> void write_synced(const std::filesystem::path& path, Fill&& fill) {
    writing(path, [&] {
        Temporary temporary(path);
        fill(temporary);
        temporary.sync();
        temporary.rename_to(path);
    });
    sync_directory(directory_of(path));
}

[[noreturn]] void cannot_read(const std::filesystem::path& path, int code) {
    const bool plain = code == ENOENT || code == EISDIR || code == ENOTDIR;
    throw Error(path.string(), plain ? reason(code) : "cannot be read: " + reason(code));
}

Descriptor open_to_read(const std::filesystem::path& path, int flags) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
    if (file.get() < 0) cannot_read(path, errno);
    return file;
}
struct stat status_of(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) cannot_read(path, errno);
    if (S_ISDIR(status.st_mode)) cannot_read(path, EISDIR);
    return status;
}

std::string bytes_text(size_t bytes) {
    constexpr size_t mebibyte = size_t(1) << 20;
    return bytes % mebibyte ? std::to_string(bytes) + " bytes"
                            : std::to_string(bytes / mebibyte) + " MiB";
}

std::string read(const Descriptor& file, const std::filesystem::path& path, size_t most) {
    // The size is a first guess: a file under /proc says 0, and a log may grow meanwhile.
    const off_t size = std::max<off_t>(status_of(file, path).st_size, 0);
    std::string bytes;
    size_t filled = 0;
    bytes.resize(std::min(most, static_cast<size_t>(size)) + 1);
    for (;;) {
        const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) cannot_read(path, errno);
        if (count == 0) break;
        filled += static_cast<size_t>(count);
        if (filled > most) throw Error(path.string(), "has more than " + bytes_text(most));
        if (filled == bytes.size()) bytes.resize(bytes.size() * 2 + 4096);
    }
    bytes.resize(filled);
    return bytes;
}

}

std::string read_file(const std::filesystem::path& path) {
    const Descriptor file = open_to_read(path, 0);
    const bool ends = S_ISREG(status_of(file, path).st_mode);
    return read(file, path, ends ? ~size_t(0) : most_of_a_plain_file);
}

// Without O_NONBLOCK open() would wait on a pipe without a writer, and read() on a log such as /proc/kmsg.
Descriptor open_plain_file(const std::filesystem::path& path) {
    Descriptor file = open_to_read(path, O_NONBLOCK);
    if (!S_ISREG(status_of(file, path).st_mode)) throw Error(path.string(), "is no plain file");
    return file;
}
std::string read_plain_file(const std::filesystem::path& path, size_t most) {
    return read(open_plain_file(path), path, most);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
    write_synced(path, [&](Temporary& temporary) { temporary.write(bytes); });
}
void write_copy(const std::filesystem::path& path, const std::filesystem::path& source) {
    const Descriptor from = open_to_read(source, 0);
    write_synced(path, [&](Temporary& temporary) {
        std::string piece(size_t(1) << 20, '\0');
        for (ssize_t count; (count = ::read(from.get(), piece.data(), piece.size())) != 0;) {
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) cannot_read(source, errno);
            temporary.write(std::string_view(piece).substr(0, size_t(count)));
        }
    });
}
void write_cached_file(const std::filesystem::path& path, std::string_view bytes) {
    writing(path, [&] {
        Temporary temporary(path);
        temporary.write(bytes);
        temporary.rename_to(path);
    });
}

void sync_files(const std::filesystem::path& folder) {
    const Descriptor opened = open_directory(folder);
    if (opened.get() >= 0) ::syncfs(opened.get());
}

UnfinishedFile::UnfinishedFile(std::filesystem::path target)
    : target_(std::move(target)), path_(target_) {
    writing(target_, [&] { Descriptor(create_beside(path_)); });
}
UnfinishedFile::~UnfinishedFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
}
void UnfinishedFile::take_place() {
    writing(target_, [&] {
        const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
        if (file.get() < 0 || ::fsync(file.get()) != 0) throw_errno(errno);
        if (::rename(path_.c_str(), target_.c_str()) != 0) throw_errno(errno);
        path_.clear();
    });
    sync_directory(directory_of(target_));
}

bool is_unfinished_file(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with(temporary_prefix) &&
           is_hex(std::string_view(name).substr(temporary_prefix.size()), 16);
}

void touch(const std::filesystem::path& path) {
    std::error_code ignored;
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
}

void make_private_directory(const std::filesystem::path& path) {
    std::filesystem::path made;
    for (const auto& part : path) {
        made /= part;
        if (::mkdir(made.c_str(), 0700) == 0) continue;
        const int code = errno;
        std::error_code ignored;
        if (std::filesystem::is_directory(made, ignored)) continue;
        const std::string why = code == EEXIST ? "a file is in its place" : reason(code);
        throw Error(made.string(), "cannot be made a directory: " + why);
    }
}

std::filesystem::path resolved_path(const std::filesystem::path& path) {
    std::error_code trouble;
    const std::filesystem::path result = std::filesystem::weakly_canonical(path, trouble);
    return trouble ? path : result;
}
bool lies_below(const std::filesystem::path& file, const std::filesystem::path& folder) {
    std::error_code trouble;
    const std::filesystem::path place = std::filesystem::weakly_canonical(file, trouble);
    const std::filesystem::path below = place.lexically_relative(resolved_path(folder));
    return !trouble && !below.empty() && *below.begin() != "..";
}

}
