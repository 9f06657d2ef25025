#pragma once
#include "engine/base/descriptor.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace nacelle {

// The content of a file. Throws with the reason: missing, a directory, not readable, an endless device or pipe.
std::string read_file(const std::filesystem::path&);
// The same for a file of somebody else, such as a watched source or a file of a run's folder: a pipe, a device or more than
// `most` bytes is an error at once.
inline constexpr size_t most_of_a_plain_file = size_t(64) << 20;
std::string read_plain_file(const std::filesystem::path&, size_t most = most_of_a_plain_file);
// Opens a plain file, for readers of parts.
Descriptor open_plain_file(const std::filesystem::path&);
// Writes a temporary file beside the target, syncs it and renames it: readers see the old file or the new one, never
// a part.
void write_file(const std::filesystem::path&, std::string_view bytes);
// The same with the bytes of another file, which may be larger than the memory.
void write_copy(const std::filesystem::path&, const std::filesystem::path& source);
// The same without syncs, for what can be made again or is synced later: after a power cut the file may be empty or
// damaged.
void write_cached_file(const std::filesystem::path&, std::string_view bytes);
// Syncs all that was written to the file system of this folder. Where that fails, the system does so by itself soon.
void sync_files(const std::filesystem::path& folder);
// An empty temporary file of a unique name beside its target, for what is written by other means: removed unless it
// takes the target's place.
class UnfinishedFile final {
public:
    explicit UnfinishedFile(std::filesystem::path target);
    ~UnfinishedFile();
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Syncs it and renames it.
    void take_place();

private:
    std::filesystem::path target_, path_;
};
// Whether the name is that of such a temporary file. An old one was left by a process that was killed.
bool is_unfinished_file(const std::filesystem::path&);
// The path with symbolic links followed as far as it exists; the path itself where that fails.
std::filesystem::path resolved_path(const std::filesystem::path&);
// True if the file lies below the folder once symbolic links are followed.
bool lies_below(const std::filesystem::path& file, const std::filesystem::path& folder);
// Marks it as used now, for a cache that makes room; nothing where it is not there.
void touch(const std::filesystem::path&);
// Creates the directory and its parents, readable by this user alone.
void make_private_directory(const std::filesystem::path&);

}
