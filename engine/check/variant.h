#pragma once
#include "engine/compile/backend.h"

namespace nacelle {

// Another build of the same author's code, selected by defines of the SDK.
struct Variant {
    std::vector<std::string> defines = {};
    std::vector<std::string> options = {};    // of the host's compiler
    bool bounds = false;                      // with bounds_checks(), which are the compiler's own
    int threads = 1;

    // As in training.
    static Variant plain(int threads = 1) { return {.threads = threads}; }
    // Checks indices, gives phases a frozen copy to read, and fills uninitialised locals with a pattern.
    static Variant checked();
    // Phases visit their agents backwards.
    static Variant reversed();
    // Emulates the GPU's code; `lanes` threads for a team, 0: the usual number.
    static Variant emulated(int lanes);
    // As plain, compiled quickly, for checks that do not depend on speed.
    static Variant quick();
};

// Called before a compile begins (null) and with its result.
using CompileNews = std::function<void(const Binary* made)>;

// A backend whose compiler, this machine's or `other`, builds this variant of every program.
std::shared_ptr<RunsOn> open_variant(BackendSettings settings, const Variant& variant,
                                     CompileNews news, std::unique_ptr<Compiler> other = {});

}
