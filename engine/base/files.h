#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace nacelle {

// The whole file. Throws with the reason: missing, a directory, not readable, a device or pipe without an end.
std::string read_file(const std::filesystem::path&);
// The same for what may be replaced by anything at any time, a source that is watched: a pipe or a device is an error
// at once, and so is a file of more than 64 MiB.
std::string read_plain_file(const std::filesystem::path&);
// Writes a temporary file beside the target, syncs it and renames it: readers see the old file or
// the new one, never a part.
void write_file(const std::filesystem::path&, std::string_view bytes);
// A new, empty file beside the target, of a name that nobody else has: for who writes it by other means,
// and renames it.
std::filesystem::path make_unfinished_file(const std::filesystem::path& target);
// Whether this is such a temporary file's name: one that is old was left by a process that was killed.
bool is_unfinished_file(const std::filesystem::path&);
// Makes the directory and its parents, readable by this user alone.
void make_private_directory(const std::filesystem::path&);

}
