#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace nacelle {

// The whole file. Throws with the reason: missing, a directory, not readable.
std::string read_file(const std::filesystem::path&);
// Writes a temporary file beside the target, syncs it and renames it: readers see the old file or
// the new one, never a part.
void write_file(const std::filesystem::path&, std::string_view bytes);
// Whether this is such a temporary file's name: one that is old was left by a process that was killed.
bool is_unfinished_file(const std::filesystem::path&);
// Makes the directory and its parents, readable by this user alone.
void make_private_directory(const std::filesystem::path&);

}
