#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace nacelle {

// The first bytes of every entry.
inline constexpr std::string_view entry_magic = "NACELLEC";

// Removes the least recently used entries until the rest fits `bound_bytes`; `newest` stays. Touches only files that
// a cache has made: the folder may hold others.
void trim_cache(const std::filesystem::path& directory, const std::filesystem::path& newest,
                uintmax_t bound_bytes);

}
