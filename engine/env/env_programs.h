#pragma once
#include "engine/compile/program.h"
#include "engine/compile/rebuild.h"
#include "engine/env/env_view.h"

namespace nacelle {

// The programs around an environment's functions or its sizes, besides its own. They share its arrays; those around its
// functions share its view, too. Each keeps its address over reloads, until it is released or the environment is
// destroyed.
class EnvPrograms final {
public:
    // Both must outlive this; a reload replaces their content.
    EnvPrograms(const EnvCode& code, const EnvView& view) : code_(code), view_(view) {}

    // Throws the diagnostics as an Error where it does not compile.
    Program& add(const ProgramText& text) { return add(code_.begin(text)); }
    // A program that the environment's code, of this or an earlier version, has started to compile.
    Program& add(PendingProgram pending);
    void release(const Program& program);
    // Runs other builds of the same sources from now on. Returns the old ones, which may be destroyed once no graph uses
    // their kernels.
    using Builds = std::map<uint64_t, std::unique_ptr<Program>>;    // by their numbers
    Builds run_instead(const std::map<uint64_t, Binary>& builds);
    // Runs these, and keeps those that ran in their places.
    void exchange_builds(Builds& others);
    // Null where it was released.
    Program* find(uint64_t number) const;
    // Sets the current view in all programs.
    void show();
    // What a reload compiles. Its number grows with each program that is added or released.
    Recipe recipe() const;
    uint64_t recipe_number() const { return recipe_number_; }
    // Called when a version of other observations or actions runs.
    void reloaded() { ++recipe_number_; }

private:
    struct Entry {
        ProgramText text;
        std::unique_ptr<Program> program;
        std::vector<std::byte> view = {};    // of a stand-in
    };
    void show(Entry& entry) const;

    const EnvCode& code_;
    const EnvView& view_;
    std::map<uint64_t, Entry> entries_;
    uint64_t next_ = 0, recipe_number_ = 0;
};

}
