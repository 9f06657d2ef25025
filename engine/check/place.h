#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace nacelle {

// "pond.cu:12" for a place in a shared object with debug information: the innermost line of the
// author's files that the code there was made from. Empty where it cannot be known (no addr2line,
// no such line).
std::string author_place(const std::string& object, uint64_t offset,
                         const std::filesystem::path& author);

}
