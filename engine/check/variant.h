#pragma once
#include "engine/env/backend.h"

namespace nacelle {

// Another build of the same author's code: the SDK does what the defines ask for.
struct Variant {
    std::vector<std::string> defines = {};
    std::vector<std::string> options = {};    // of the host's compiler
    bool bounds = false;                      // with bounds_checks(), which are the compiler's own
    int threads = 1;

    // As it is trained.
    static Variant plain(int threads = 1) { return {.threads = threads}; }
    // Indices are checked, phases read a frozen copy, locals that nobody wrote hold a pattern.
    static Variant checked();
    // Phases visit their agents backwards.
    static Variant reversed();
    // The GPU's path, emulated; `lanes` threads for a team, 0: as many as it takes.
    static Variant emulated(int lanes);
    // Nothing else than plain, compiled quickly: for what does not depend on speed.
    static Variant quick();
};

// Told before a compile begins (null) and with what it made.
using CompileNews = std::function<void(const Binary* made)>;

// A backend whose compiler, this machine's or `other`, builds this variant of every program.
std::shared_ptr<RunsOn> open_variant(BackendSettings settings, const Variant& variant,
                                     CompileNews news, std::unique_ptr<Compiler> other = {});

}
