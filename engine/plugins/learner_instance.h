#pragma once
#include "engine/plugins/sink_instance.h"

namespace nacelle {

// A learner and its environment, which is created when the learner needs more than its code.
class LearnerInstance final {
public:
    // `config` is the configuration's learner object, with its policies under "policies".
    LearnerInstance(Plugins& plugins, LazyEnvironment environment, const std::string& name,
                    const Json& config);

    const std::string& name() const { return services_->plugin(); }
    uint64_t steps_per_iteration() const { return facts_.steps_per_iteration; }
    // Whether record() is called for each iteration and launches by itself. Otherwise it is called once under the
    // stream's capture, and again after a program of the environment was rebuilt.
    bool captures_itself() const { return facts_.captures_itself != 0; }
    // The memory in which kernels of all ranks meet, once each rank has its instance.
    void connect_peers() { services_->connect_peers(); }
    // Enqueues one iteration.
    void record(void* stream);
    // To be called after a program of the environment was rebuilt: looks its kernels up again.
    void refresh() { services_->refresh_kernels(); }
    // Writes the actions of all rows for the current observations.
    void act(bool greedy, void* stream = nullptr) { act(greedy, 0, nullptr, stream); }
    // At least those of the first `envs` environments.
    void act(bool greedy, uint32_t envs, void* stream);
    // Or takes this many steps of an evaluation, at most most_steps(), in one launch.
    uint32_t most_steps() const { return facts_.most_steps; }
    void act(bool greedy, uint32_t steps, const nacelle_first_episodes* first, void* stream);
    // In the learner's order; may wait.
    MetricValues metrics();
    // All settings with their defaults, in the form of `config`; null where the learner does not report them.
    Json settings() const;
    // How each policy acts, in the form that a checkpoint keeps; null where the learner does not tell it.
    Json policies() const;

private:
    Json told_object(const char* text, const char* what) const;

    // Members are destroyed from last to first: the object, its host, the library.
    std::shared_ptr<const PluginLibrary> library_;
    nacelle_learner functions_;
    std::unique_ptr<HostServices> services_;
    std::unique_ptr<void, void (*)(void*)> object_;
    nacelle_learner_facts facts_{};
};

}
