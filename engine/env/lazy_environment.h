#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// An environment that is created when it is first used. Its settings and code are known earlier: a learner that needs
// only the table of fields does not wait for the compiler.
class LazyEnvironment final {
public:
    using Loaded = std::function<void(Environment&)>;

    // Compiles only the table of fields where helpers can compile the rest. `loaded` as in Environment's constructor.
    LazyEnvironment(std::shared_ptr<RunsOn> on, EnvSettings settings, Loaded loaded = {});
    // An existing environment.
    LazyEnvironment(std::shared_ptr<Environment> made);
    LazyEnvironment(Environment& made);    // which outlives this

    RunsOn& on() const { return *code_.on; }
    const EnvSettings& settings() const { return settings_; }
    // The code of the version that runs or will run.
    const EnvCode& code() const;
    uint64_t version() const { return is_made() ? get()->version() : 1; }
    // Throws what the constructor of Environment throws, again at each call.
    const std::shared_ptr<Environment>& get() const { return made_.get(); }
    Environment& operator*() const { return *get(); }
    Environment* operator->() const { return get().get(); }

private:
    bool is_made() const {
        return made_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }

    EnvSettings settings_;
    EnvCode code_;
    std::shared_future<std::shared_ptr<Environment>> made_;
};

}
