#pragma once
#include "engine/run/benchmark.h"
#include "engine/run/trainee.h"

#include <optional>

namespace nacelle {

// One measured training: a learner at work as in a run, without evaluations, checkpoints and sinks.
struct TrainingRow {
    std::string environment, learner;
    uint32_t envs = 0, agents = 1;
    uint64_t steps = 0;    // of each environment in an iteration
    int iterations = 0;    // in one repetition
    int repetitions = 0;
    double seconds = 0;    // that all repetitions took
    Spread whole;
    // Where the learner times them: of the last iteration of each repetition.
    std::optional<Spread> rollout, update;
    // Where the learner counts them: updates of all policies in an iteration. Fewer than the settings
    // ask for where it stopped early.
    std::optional<double> updates;
    // Of the update alone: 6 operations for each weight of a policy and each sample.
    std::optional<double> teraflops;
    Json settings;    // "env", "learner" and "policies" of a configuration, defaults written out
};

struct TrainingMeasure {
    int repetitions = 11;
    double seconds = 0.02;    // that one of them takes at least
};

// Trains with the configuration from its beginning. Throws where a run would, and where a metric of the learner is
// not finite: the update may have been skipped.
TrainingRow measure_training(std::shared_ptr<RunsOn> on, Plugins& plugins,
                             const Json& configuration, const std::string& where,
                             const TrainingMeasure& measure);

}
