#pragma once
#include "engine/env/recipe.h"
#include "engine/jit/source_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace nacelle {

// A version of an author's files, compiled, or why it could not be.
struct Rebuilt {
    SavedSource source;
    uint64_t recipe_number = 0;
    EnvCode code;
    std::map<uint64_t, Binary> programs;    // by the recipe's numbers
    double seconds = 0;                     // that compiling took
    std::string other_spaces;    // what agents see or do has changed, in words; else empty
    std::string failure;         // empty where it was compiled
    bool finishes = false;       // the full build of a version that was taken as a draft
};

// Compiles on a thread of its own whatever is saved, and keeps the newest that is done. A save while it
// compiles ends that compile: nobody wants its result any more. What is compiled as a draft first, to be
// there soon, is compiled in full behind it.
class Rebuilder final {
public:
    // `policy_bound`: where agents see or do something else, the other programs are a learner's that
    // could not run, and are not compiled.
    Rebuilder(std::shared_ptr<RunsOn> on, bool policy_bound);
    ~Rebuilder();
    Rebuilder(const Rebuilder&) = delete;
    Rebuilder& operator=(const Rebuilder&) = delete;

    // What to compile from now on, and what runs.
    void use(Recipe recipe, uint64_t number, EnvSchema running);
    // From any thread: this version now, and no earlier one.
    void compile(SavedSource source);
    // The same version once more, unless a newer one is on its way.
    void compile_again(SavedSource source);
    // The newest result, once.
    std::optional<Rebuilt> take();
    bool ready() const { return ready_; }

private:
    void run();
    std::optional<Rebuilt> build(const SavedSource& source, const Recipe& recipe, uint64_t number,
                                 const EnvSchema& running);
    std::optional<Rebuilt> in_full(const Rebuilt& draft, const Recipe& recipe);
    bool still_so(const Rebuilt& rebuilt, const Recipe& recipe) const;
    void build_programs(Rebuilt& rebuilt, const Recipe& recipe, const EnvSchema& running);

    std::shared_ptr<RunsOn> on_;
    bool policy_bound_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Recipe> recipe_;
    std::optional<EnvSchema> running_;
    uint64_t number_ = 0;
    std::optional<SavedSource> next_;
    std::optional<Rebuilt> result_;
    bool ends_ = false, compiles_ = false;
    std::atomic<bool> cancel_ = false, ready_ = false;
    std::thread thread_;
};

}
