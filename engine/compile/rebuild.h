#pragma once
#include "engine/compile/env_code.h"
#include "engine/jit/source_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nacelle {

// Everything that another thread needs to recompile an environment and the programs around it.
struct Recipe {
    EnvSource source;
    EnvSchema running;                           // of the version that runs
    std::map<uint64_t, ProgramText> programs;    // by their number
    uint64_t number = 0;                         // of the recipe; it grows with each change
};

// A version of an author's files: its compiled code, or why it does not compile.
struct Rebuilt {
    SavedSource source;
    uint64_t recipe_number = 0;
    std::optional<EnvCode> code;            // nothing where it was not compiled
    std::map<uint64_t, Binary> programs;    // by the recipe's numbers
    double seconds = 0;                     // that compiling took
    std::string other_spaces;               // how observations or actions have changed; else empty
    std::string failure;                    // empty where it was compiled
    bool finishes = false;                  // the full build of a version whose draft runs
};

// Compiles each save on a thread of its own and keeps the newest result. A new save cancels the running compile.
// Where drafts exist, it compiles a draft first, so that the version is there soon, and then the full build.
class Rebuilder final {
public:
    // `policy_bound`: the other programs belong to a learner, which cannot run them where observations or actions
    // have changed; then they are not compiled.
    Rebuilder(std::shared_ptr<RunsOn> on, bool policy_bound);
    ~Rebuilder();
    Rebuilder(const Rebuilder&) = delete;
    Rebuilder& operator=(const Rebuilder&) = delete;

    // The recipe for all compiles from now on.
    void use(Recipe recipe);
    // Compiles this version instead of any earlier one. From any thread.
    void compile(SavedSource source);
    // Compiles the same version again, unless a newer one was saved.
    void compile_again(SavedSource source);
    // The newest result, once.
    std::optional<Rebuilt> take();
    bool ready() const { return ready_; }

private:
    void run();
    std::optional<Rebuilt> build(const SavedSource& source, const Recipe& recipe, bool draft);
    bool still_so(const Rebuilt& rebuilt, const Recipe& recipe) const;
    void build_programs(Rebuilt& rebuilt, const Recipe& recipe);

    std::shared_ptr<RunsOn> on_;
    bool policy_bound_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Recipe> recipe_;
    std::optional<SavedSource> next_;
    std::optional<Rebuilt> result_;
    bool ends_ = false, compiles_ = false;
    std::atomic<bool> cancel_ = false, ready_ = false;
    std::thread thread_;
};

}
