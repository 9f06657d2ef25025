#pragma once
#include "engine/env/reloader.h"

#include <optional>

namespace nacelle {

// "run", "solved" and "reload" of a configuration.
struct RunSettings {
    uint64_t total_steps = 10000000;
    uint64_t evaluate_every = 0;      // iterations; 0: never
    uint64_t report_every = 0;        // iterations; 0: by time
    uint64_t checkpoint_every = 0;    // steps; 0: only at the end
    uint64_t keep = 3;
    std::vector<std::string> sinks;
    std::optional<double> solved_return;
    uint64_t episodes = 100;    // of an evaluation
    ReloadSettings reload;
};

// What is not set is chosen here, by the steps of one iteration. Throws for what is unknown or out of
// bounds.
RunSettings read_run_settings(const Json& configuration, const std::string& where,
                              uint64_t steps_per_iteration);
// The same as a configuration says it, every default written out.
void write_run_settings(const RunSettings& settings, Json& configuration);

}
