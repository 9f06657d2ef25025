#pragma once
#include "engine/compile/backend.h"

namespace nacelle {

// What a program consists of besides the author's file: an instantiation, and headers that it needs.
struct ProgramText {
    std::string instantiation;
    std::vector<MemoryHeader> headers;
    std::vector<std::string> defines;
    std::vector<std::string> options = {};    // further flags of the host's compiler
    std::string given_by = {};                // the plugin whose text it is
    bool of_sizes = false;    // it needs sizes alone, and is compiled around a stand-in
};

// How to compile: `draft` and `aside` as in ProgramSource. Setting `cancel` ends a compile early; it then throws.
struct CompileWay {
    const std::atomic<bool>* cancel = nullptr;
    bool draft = false, aside = false;
    std::filesystem::path copy_of = {};    // of the author's file, where a copy is compiled
};

// The define of strict mode in both backends, and NVRTC's options for arithmetic. In strict mode each operation is
// rounded as on a CPU. Otherwise products may fuse with sums, and a quotient is within 2 ulp instead of exactly
// rounded: 30 instructions fewer in a CartPole step.
inline constexpr const char* strict_define = "NACELLE_STRICT=1";
std::vector<std::string> gpu_arithmetic(bool strict);

// The author's file, the SDK and the instantiation, as a compiler takes them.
ProgramSource program_source(const RunsOn& on, const std::filesystem::path& author,
                             const ProgramText& text, const CompileWay& way = {});
// Throws the diagnostics as an Error where it does not compile.
Binary compile_program(RunsOn& on, const std::filesystem::path& author, const ProgramText& text,
                       const CompileWay& way = {});

}
