#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace nacelle {

// What every entry of a cache begins with.
inline constexpr std::string_view entry_magic = "NACELLEC";

// Removes from a cache's directory what was not used for longest until the rest fits; `newest` stays.
// Only what a cache has made counts and goes: a program may have named a folder that holds more.
void trim_cache(const std::filesystem::path& directory, const std::filesystem::path& newest,
                uintmax_t bound_bytes);

}
