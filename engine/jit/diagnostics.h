#pragma once
#include "engine/jit/compiler_output.h"
#include "engine/jit/jit.h"
#include "engine/jit/scan.h"

#include <optional>
#include <string>
#include <vector>

namespace nacelle {

// What a compiler was given: it tells an author's lines from the SDK's.
struct CompiledText {
    const std::vector<SourceFile>& closure;    // the author's files, the main one first
    std::string header_root;    // what precedes a memory header's name in the output, or empty
    std::string unit;           // the name under which the compiler read the main text
};

// What is wrong with a file before any compiler has read it.
std::optional<Diagnostics> check_author(const std::vector<SourceFile>& closure);

// What a failed compile means to the author: own frames first, the SDK's cascade dropped.
Diagnostics diagnose(const std::vector<CompilerReport>& reports, std::string raw,
                     const CompiledText& text);

// The warnings that stand in the author's files, as a user sees them.
std::string author_warnings(const std::vector<CompilerReport>& reports, const CompiledText& text);

}
