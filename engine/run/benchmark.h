#pragma once
#include "engine/env/environment.h"

#include <vector>

namespace nacelle {

// The rates of repeated measurements, in steps of environments a second.
struct Spread {
    double median = 0, slowest = 0, fastest = 0;
};
Spread spread_of(std::vector<double> rates);

// One row of a benchmark.
struct BenchmarkRow {
    std::string environment, kind;    // kind: "step", "rollout"
    uint32_t envs = 0;
    uint32_t agents = 1;          // of one environment
    uint32_t steps = 0;           // in one launch (rollout) or in one graph (step)
    double bytes_per_step = 0;    // the least memory traffic of one environment's step
    Spread rate;
    double seconds = 0;       // that all repetitions took
    uint64_t checksum = 0;    // of the observations: shows that the work was done
    int registers = 0;
    size_t local_bytes = 0;
};

struct BenchmarkSettings {
    uint32_t graph_steps = 100;
    uint32_t rollout_steps = 128;
    int repetitions = 11;
};

// Measures one launch per step with random actions from the kernel, `graph_steps` launches in a graph.
BenchmarkRow measure_steps(Environment& env, const BenchmarkSettings& settings);
// Measures `rollout_steps` steps in one launch, with everything recorded.
BenchmarkRow measure_rollout(Environment& env, const BenchmarkSettings& settings);

}
