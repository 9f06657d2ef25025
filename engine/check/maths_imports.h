#pragma once
#include "engine/jit/author_source.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

// The functions of libm that a shared object imports, by their C names: "sinf".
std::vector<std::string> maths_imports(std::span<const std::byte> elf, const std::string& what);
// Whether the function gives equal bits everywhere, so that the SDK uses it as well.
bool is_exact(const std::string& imported);
// The SDK's replacement, "nacelle::sin", or an empty text.
std::string our_maths(const std::string& imported);
// " (pond.cu:12)" where an author's file calls it, or an empty text.
std::string line_of_call(const std::vector<SourceFile>& closure, const std::string& imported);

}
