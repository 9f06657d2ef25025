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
    bool from_pool = true;                       // episodes may begin from snapshots
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

// Compiles each save on a thread of its own and keeps the newest result. A compile that is under way is finished when
// a newer version is saved, which comes next, unless it has just begun: so saves that are faster than the compiler do not
// keep every version from running. Where drafts exist, it compiles a draft first, so that the version is there soon, and
// then the full build: of an environment alone, and where helpers compile, of the programs around it, too.
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
    // Compiles this version next, and none of those that still wait. From any thread.
    void compile(SavedSource source);
    // Compiles the same version again, unless a newer one was saved.
    void compile_again(SavedSource source);
    // Makes the full build of a version whose draft runs on, since a newer one was not taken.
    void finish_draft(SavedSource source);
    // The newest result, once.
    std::optional<Rebuilt> take();
    bool ready() const { return ready_; }

private:
    void run();
    void build_in_full(std::unique_lock<std::mutex>& lock, const SavedSource& source,
                       const Recipe& recipe);
    std::optional<Rebuilt> build(const SavedSource& source, const Recipe& recipe,
                                 bool behind_draft);
    void give_up();

    std::shared_ptr<RunsOn> on_;
    bool policy_bound_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Recipe> recipe_;
    std::optional<SavedSource> next_, unfinished_;
    std::optional<Rebuilt> result_;
    bool ends_ = false, compiles_ = false, gave_up_ = false;
    std::chrono::steady_clock::time_point began_;
    // Of a whole compile, and of the programs around the environment: these stop also where its own does not compile.
    std::atomic<bool> cancel_ = false, stop_programs_ = false, ready_ = false;
    std::thread thread_;
};

}
