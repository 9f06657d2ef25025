#pragma once
#include "engine/jit/scan.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

// The functions of libm that a shared object imports, as C names them: "sinf".
std::vector<std::string> maths_imports(std::span<const std::byte> elf, const std::string& what);
// Whether it has the same bits everywhere, so that the SDK calls it, too.
bool is_exact(const std::string& imported);
// The SDK's function in its place, "nacelle::sin", or an empty text where it has none.
std::string our_maths(const std::string& imported);
// " (pond.cu:12)" where an author's file calls it, or an empty text.
std::string place_of_call(const std::vector<SourceFile>& closure, const std::string& imported);

}
