#pragma once
#include "engine/jit/author_source.h"
#include "engine/jit/compiler_output.h"
#include "engine/jit/jit.h"

#include <optional>
#include <string>
#include <vector>

namespace nacelle {

// What a compiler was given. It tells an author's lines from the SDK's.
struct CompiledText {
    const std::vector<SourceFile>& closure;    // the author's files, the main one first
    std::string header_root;    // what precedes a memory header's name in the output, or empty
    std::string unit;           // the name under which the compiler read the main text
    const ProgramSource* source = nullptr;    // a plugin may have given a part of it
};

// Errors in a file that are found without a compiler.
std::optional<Diagnostics> check_author(const std::vector<SourceFile>& closure);

// Translates a failed compile for the author: the author's own lines first, without the errors that follow in the
// SDK.
Diagnostics diagnose(const std::vector<CompilerReport>& reports, std::string raw,
                     const CompiledText& text);

// The warnings in the author's files, as a user sees them.
std::string author_warnings(const std::vector<CompilerReport>& reports, const CompiledText& text);

}
