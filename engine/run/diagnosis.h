#pragma once
#include "engine/plugins/learner_instance.h"
#include "engine/run/safetensors.h"

#include <map>

namespace nacelle {

// Something in a run that often means that it will not learn, and what to try.
struct Suspicion {
    std::string what, remedy;
};

// Looks at the metrics of a run as they come, and at what a checkpoint of it holds.
class Diagnosis final {
public:
    // A reading of the metrics. Of many readings some are forgotten, evenly over the run.
    void add(const MetricValues& metrics);
    // What the metrics so far show; `learner` is its part of the configuration, and remedies are settings that it has.
    std::vector<Suspicion> of_metrics(const Json& learner) const;

private:
    const std::vector<double>* series(const std::string& name) const;
    bool updates_again(const std::string& kl) const;
    bool learns_from_nothing(const std::string& policy) const;
    bool returns_differ() const;
    bool values_explain() const;
    void look_at_policy(const std::string& name, const std::vector<double>& values,
                        const Json& learner, std::vector<Suspicion>& found) const;
    void look_at_episodes(const Json& learner, std::vector<Suspicion>& found) const;

    std::map<std::string, std::vector<double>> series_;    // by the names of metrics
    uint64_t readings_ = 0, every_ = 1;                    // of `every_` readings one is kept
};

// What observations, masks and actions of a checkpoint show.
std::vector<Suspicion> look_at_arrays(const std::vector<Tensor>& tensors, const Json& learner);

// "suspicious: the entropy fell from 0.69 to 0.004; try a larger learner.entropy"
std::string suspicion_text(const Suspicion& suspicion);

}
