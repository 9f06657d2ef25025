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

// The outcome of a save.
struct Reload {
    bool taken = false;
    uint64_t version = 0;    // the version that runs now
    std::string why;         // why it was not taken: the compiler's errors, or what does not fit
    std::chrono::system_clock::time_point saved;    // the modification time of the file
    double compile_seconds = 0;
    bool state_changed = false;
    std::string other_spaces;    // how observations or actions have changed; else empty

    // "CartPole was reloaded; version 5 runs.", or the reason and "CartPole was not reloaded; version 4 keeps
    // running."
    std::string text(const std::string& name) const;
    double seconds_since_saved() const {
        return std::chrono::duration<double>(std::chrono::system_clock::now() - saved).count();
    }
};

// The callbacks of a reload, for a learner with its graphs.
struct ReloadUser {
    // All programs are those of the new version: record again. If this throws, the reload is rolled back and this is
    // called again.
    std::function<void()> rebuilt = nullptr;
    // Observations or actions have changed: continue in this environment, or throw the reason against it.
    std::function<void(std::shared_ptr<Environment>)> restart = nullptr;
    // Whether it may ask for episodes that begin from snapshots (Environment::set_snapshot_chance). Where it never does,
    // drafts have no code for it.
    bool from_pool = true;
};

// Reloads an environment when its author's file is saved: it watches the file, compiles on a thread of its own while
// the old version runs, and swaps the versions in take(). What cannot run is reported, and the running version
// goes on; what the user refuses by throwing from restart(), too.
class Reloader final {
public:
    Reloader(std::shared_ptr<Environment> environment, const ReloadSettings& settings,
             ReloadUser user = {}, SourceWatch::Way way = SourceWatch::Way::events);

    // Whether take() has something to do; cheap.
    bool ready() const { return rebuilder_.ready(); }
    // Swaps in a compiled version; to be called between two rollouts or steps. Nothing where nothing was saved. Never
    // waits for a compiler.
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
    std::optional<SavedSource> draft_;    // the version that runs, where it is a draft
    Rebuilder rebuilder_;
    SourceWatch watch_;    // last: it calls the rebuilder
};

}
