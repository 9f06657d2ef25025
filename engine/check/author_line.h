#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace nacelle {

// "pond.cu:12" for an offset in a shared object with debug information: the innermost line of the author's files at
// that code. Empty where it is unknown (no addr2line, no such line).
std::string author_line(const std::string& object, uint64_t offset,
                        const std::filesystem::path& author);

}
