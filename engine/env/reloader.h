#pragma once
#include "engine/env/replacement.h"

namespace nacelle {

// "reload" of a configuration.
struct ReloadSettings {
    enum class OnState { keep, reset };
    enum class OnSpaces { stop, restart_learner };
    bool watch = true;
    OnState on_state_change = OnState::keep;
    OnSpaces on_space_change = OnSpaces::stop;
};
ReloadSettings read_reload_settings(Config reload);
Json reload_json(const ReloadSettings& settings);

// What became of a save.
struct Reload {
    bool taken = false;
    uint64_t version = 0;    // that runs now
    std::string why;         // it was not taken: the compiler's words, or what does not fit
    std::chrono::system_clock::time_point saved;    // by the file's own time
    double compile_seconds = 0;
    bool state_changed = false;
    std::string other_spaces;    // what agents see or do has become, in words; else empty

    // "CartPole was reloaded; version 5 runs.", or why not and "CartPole was not reloaded; version 4 keeps
    // running."
    std::string text(const std::string& name) const;
    double seconds_since_saved() const {
        return std::chrono::duration<double>(std::chrono::system_clock::now() - saved).count();
    }
};

// Who works on the environment with more than its functions: a learner with its graphs.
struct ReloadUser {
    // All programs are the new version's: record again. Where it throws, the reload is taken back, and
    // it is called once more.
    std::function<void()> rebuilt;
    // What agents see or do has changed: goes on in this environment, or throws why it does not.
    std::function<void(std::shared_ptr<Environment>)> restart;
};

// Keeps an environment at its author's file: watches it, compiles what is saved on a thread of its own
// while the old version runs, and swaps when it is asked to. Nothing that an author may save ends a run:
// what cannot be taken is told, and the running version goes on.
class Reloader final {
public:
    Reloader(std::shared_ptr<Environment> environment, const ReloadSettings& settings,
             ReloadUser user = {}, SourceWatch::Way way = SourceWatch::Way::events);

    // Whether take() has something to do; costs nothing.
    bool ready() const { return rebuilder_.ready(); }
    // To be called between two rollouts, or steps. Nothing where nothing was saved; nobody waits for a
    // compiler here.
    std::optional<Reload> take();
    Environment& environment() { return *environment_; }

private:
    bool prepare();
    void swap(const Rebuilt& rebuilt, Reload& reload);
    void finish(const Rebuilt& full);

    std::shared_ptr<Environment> environment_;
    ReloadSettings settings_;
    ReloadUser user_;
    uint64_t recipe_number_ = ~uint64_t(0);
    bool draft_runs_ = false;
    Rebuilder rebuilder_;
    SourceWatch watch_;    // last: it calls the rebuilder
};

}
