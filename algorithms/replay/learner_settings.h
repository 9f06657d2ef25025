#pragma once
#include "algorithms/policy_gradient/plan/networks.h"
#include "algorithms/replay/settings.h"

// What a learner with a replay is configured by, read and checked, with every default filled in.
namespace replay {

// One of them: what it does, and whether LibTorch computes its networks or kernels of ours.
struct Learner {
    Method method;
    const char* name;
    bool on_torch;
};

struct LearnerSettings : Settings {
    Method method;
    std::string name;
    learn::PolicySettings policy;
    // Read for every method, which is where their defaults stand.
    uint32_t horizon = 0, updates = 0;
    bool normalises_observations = false;
    double reward_scale = 0, tau = 0, max_gradient_norm = 0, beta1 = 0, beta2 = 0, epsilon = 0;
    int64_t policy_every = 0;
    // Of some methods; these are for the others.
    double target_noise = 0, target_noise_bound = 0;
    bool tunes_temperature = true;
    double target_entropy = 0;
    bool double_values = true, duelling = false;
    int64_t atoms = 1;
    double least_value = 0, most_value = 0;
    bool emulates = false;    // a GPU's kernels on a CPU
    std::string resolved;     // all of this as the JSON it could be read from
};

LearnerSettings read_learner(const Learner& learner, std::string_view config,
                             const nacelle_environment& environment, uint32_t ranks);

}
