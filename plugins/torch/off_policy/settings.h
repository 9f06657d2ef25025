#pragma once
#include "algorithms/common/settings.h"

#include "plugins/torch/off_policy/device/replay/arguments.h"

// What a learner with a replay is configured by, read and checked, with every default filled in.
namespace torch_learn {

// Where the logarithms of deviations are cut.
inline constexpr float least_log_deviation = -5, most_log_deviation = 2;

enum class Method { dqn, sac, td3, ddpg };

struct OffPolicySettings {
    Method method;
    std::string name;
    bool discrete;    // what the environment's agents choose
    learn::PolicySettings policy;
    uint32_t horizon = 1, updates = 1, batch = 256, n_step = 1;
    uint64_t capacity = 0, warm_up = 0;
    bool saves_replay = true, normalises_observations = true;
    double reward_scale = 1, tau = 0.005, max_gradient_norm = 0;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    learn::Schedule dials[replay::dial_count] = {};
    double least_exploration = 0;
    double priority = 0;    // exponent of priorities; 0: all are as likely
    int64_t noise_steps = 1, policy_every = 1;
    double target_noise = 0, target_noise_bound = 0;
    bool tunes_temperature = true;
    double target_entropy = 0;
    bool double_values = true, duelling = false;
    int64_t atoms = 1;
    double least_value = 0, most_value = 0;
    std::string resolved;    // all of this as the JSON it could be read from

    bool prioritised() const { return priority > 0; }
    bool bends() const { return !discrete; }
};

OffPolicySettings read_off_policy(Method method, std::string_view config,
                                  const nacelle_environment& environment);

}
