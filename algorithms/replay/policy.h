#pragma once
#include "algorithms/policy_gradient/plan/networks.h"
#include "algorithms/replay/learner_settings.h"

// The policy of a learner with a replay, whoever computes it.
namespace replay {

// What its weights' array is called, before ".weights".
inline constexpr const char* policy_array = "policy";

// How the policy acts, for checkpoints: a network of these neurons, inputs first. Nothing without them, where its outputs are
// more than that.
std::string policy_text(const LearnerSettings& settings, const learn::Encoder& encoder,
                        const std::vector<int64_t>& sizes, const nacelle_environment& environment);
// What its outputs are.
Form form_of(const LearnerSettings& settings);
// The first weights of networks whose matrices and biases have these sizes: evenly between plus and minus one over the root of a
// neuron's inputs, biases too. `number` tells them apart from those of others.
std::vector<float> first_weights(const std::vector<learn::MatrixSize>& layers, uint64_t seed,
                                 uint32_t number);

}
