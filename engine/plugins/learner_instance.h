#pragma once
#include "engine/plugins/sink_instance.h"

namespace nacelle {

// A learner at work on an environment, which outlives it.
class LearnerInstance final {
public:
    // `config` is the configuration's learner object, with its policies under "policies".
    LearnerInstance(Plugins& plugins, Environment& environment, const std::string& name,
                    const Json& config);

    const std::string& name() const { return services_->plugin(); }
    uint64_t steps_per_iteration() const;
    // Puts one iteration on the stream. To be called under the stream's capture, and again whenever
    // a program of the environment was rebuilt.
    void record(void* stream);
    // Writes the actions of all rows from the current observations. Null: the environment's stream.
    void act(bool greedy, void* stream = nullptr);
    // Whether it takes many steps of an evaluation in one launch; and such steps, in place of act() and a step.
    bool plays() const;
    void play(bool greedy, uint32_t steps, const nacelle_first_episodes& first, void* stream);
    // In the order that the learner gives them; it may wait.
    MetricValues metrics();
    // All settings with their defaults, in the form of `config`; null where the learner does not tell.
    Json settings() const;

private:
    // Whether the plugin's table, which grows at its end, has this member.
    template <class F> bool has(F nacelle_learner::*member) const {
        const auto* const start = reinterpret_cast<const char*>(functions_);
        const auto* const end = reinterpret_cast<const char*>(&(functions_->*member) + 1);
        return functions_->size >= static_cast<size_t>(end - start) && functions_->*member;
    }

    // Destroyed from the last to the first: the object, its host, the library.
    std::shared_ptr<const PluginLibrary> library_;
    const nacelle_learner* functions_;
    std::unique_ptr<HostServices> services_;
    std::unique_ptr<void, void (*)(void*)> object_;
};

}
