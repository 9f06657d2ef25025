#pragma once
#include "algorithms/common/networks.h"
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
                             const nacelle_environment& environment);

// How the policy acts, for checkpoints: a network of these neurons, inputs first. Nothing without them, where its outputs are
// more than that.
std::string policy_text(const LearnerSettings& settings, const learn::Encoder& encoder,
                        const std::vector<int64_t>& sizes, const nacelle_environment& environment);
Form form_of(const LearnerSettings& settings);
// The first weights of networks whose matrices and biases have these sizes: evenly between plus and minus one over the root of a
// neuron's inputs, biases too. `number` tells them apart from those of others.
std::vector<float> first_weights(const std::vector<learn::MatrixSize>& layers, uint64_t seed,
                                 uint32_t number);
inline constexpr const char* policy_array = "policy";

}
