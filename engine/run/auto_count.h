#pragma once
#include "engine/run/training_benchmark.h"

#include <functional>

namespace nacelle {

// "env.count": "auto": how many environments a run has is found by trials, each a short training with twice as many as the
// one before.
struct CountTrial {
    uint32_t envs = 0;
    double rate = 0;       // steps of environments a second
    double seconds = 0;    // of the trial, compiling included
    std::string fault;     // why it could not be, or empty
};
struct ChosenCount {
    uint32_t envs = 0;
    std::vector<CountTrial> trials;
    std::string reason;    // why there was no further one
    double seconds = 0;    // of all
};

bool is_auto_count(const Json& configuration);
// When trials end.
struct CountLimits {
    double gain = 0.05;           // two in a row that gain less than this share
    double seconds = 60;          // no trial begins that would probably end later
    uint64_t iterations = 100;    // that the run's steps are enough for
    uint32_t first = 0;           // the smallest count; 0: 512 on a GPU, 8 on a CPU
};
// The smallest count within `gain` of the best rate. Where the first count is too small for the settings, trials go on from 512;
// where that one fails, too, this throws what the first trial did.
ChosenCount choose_count(const std::shared_ptr<RunsOn>& on, Plugins& plugins,
                         const Json& configuration, const std::string& where,
                         const CountLimits& limits,
                         const std::function<void(const CountTrial&)>& told);
Json count_json(const ChosenCount& chosen);

}
