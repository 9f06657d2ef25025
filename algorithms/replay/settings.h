#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

#include "algorithms/replay/device/replay/arguments.h"

namespace replay {

// Where the logarithms of deviations are cut.
inline constexpr float least_log_deviation = -5, most_log_deviation = 2;

// What a replay, and the choices that go into it, are made by.
struct Settings {
    bool discrete = true;                // what the environment's agents choose
    uint32_t batch = 256, n_step = 1;    // of a minibatch of all ranks
    uint64_t capacity = 0, warm_up = 0;
    bool saves_replay = true;
    double priority = 0;    // exponent of priorities; 0: all are as likely
    double least_exploration = 0;
    int64_t noise_steps = 1;
    learn::Schedule dials[dial_count] = {};

    bool prioritised() const { return priority > 0; }
};

}
