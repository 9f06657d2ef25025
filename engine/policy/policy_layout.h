#pragma once
#include "engine/policy/policy_description.h"

namespace nacelle {

// A matrix of a network among a policy's numbers: weights [outputs][inputs], then the biases.
struct PolicyMatrix {
    std::string name;    // "convolutions.0", "layers.0", "layers.0.memory"
    size_t first, inputs, outputs;

    size_t biases() const { return first + inputs * outputs; }
    size_t end() const { return biases() + outputs; }
};
struct NetworkLayout {
    std::vector<PolicyMatrix> filters, layers;    // a layer that remembers may have two
    size_t end = 0;                               // the first number behind them
};

// Where the numbers of a policy's networks lie in its array of weights.
struct PolicyLayout {
    NetworkLayout policy;    // its last layer has `values` outputs more than the policy
    size_t values = 0;
    NetworkLayout
        critic;    // behind the policy's, where the array has so many more: a network of one output
};
PolicyLayout policy_layout(const PolicyDescription& description);

}
