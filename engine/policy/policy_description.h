#pragma once
#include "engine/policy/policy_encoder.h"

#include <nacelle/device/policy/activation.h>
#include <nacelle/device/policy/choose.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nacelle {

// A part of an action by its name.
struct PolicyPart {
    std::string name;
    ActionRange range;
};

// What a hidden layer is. The others than `linear` remember a number of each neuron from step to step.
enum class PolicyCell : uint32_t { linear, mingru, gru };
constexpr bool remembers(PolicyCell cell) { return cell != PolicyCell::linear; }
// What a layer computes of its inputs for each neuron.
constexpr size_t gates_of(PolicyCell cell) {
    return cell == PolicyCell::gru ? 3 : cell == PolicyCell::mingru ? 2 : 1;
}
// A layer's matrices: of its inputs, and of what it remembers.
constexpr size_t matrices_of(PolicyCell cell) { return cell == PolicyCell::gru ? 2 : 1; }

// How a trained policy acts, as its learner tells it: what it sees, its network, and what the outputs mean (see
// ActionForm). Further outputs are not the policy's.
struct PolicyDescription {
    struct Array {
        std::string name;
        size_t count = 0;    // of its numbers in one row
    };
    std::string name;
    std::vector<Array> observation;    // a row of observations is these, one behind the other
    std::vector<PolicyPart> actions;
    std::string weights;              // the array's name
    PolicyEncoder encoder;            // what comes before the layers
    std::vector<size_t> sizes;        // neurons of each layer, the input first
    std::vector<PolicyCell> cells;    // of the hidden layers; empty: all are linear
    PolicyActivation activation = PolicyActivation::tanh;
    bool biases_in_rows =
        false;    // each row of weights ends with its bias; else they follow a layer's weights
    std::string mean, scale;    // names of arrays; empty: observations are seen as they are
    float bound = 0;            // of a normalised number
    bool draws = false;         // what it does in training; else it acts in one way
    bool squash = false;        // tanh bends a continuous part into its range, which else cuts it
    float least_log_deviation = 0, most_log_deviation = 0;
    uint64_t noise_steps = 1;    // for which a continuous part's noise stays the same

    // Of a row of observations.
    size_t inputs() const {
        size_t all = 0;
        for (const Array& array : observation) all += array.count;
        return all;
    }
    size_t choices() const {
        size_t all = 0;
        for (const PolicyPart& part : actions) all += part.range.choices;
        return all;
    }
    // The continuous parts.
    size_t reals() const {
        size_t all = 0;
        for (const PolicyPart& part : actions) all += part.range.choices == 0;
        return all;
    }
    size_t outputs() const { return choices() + reals() * (draws ? 2 : 1); }
    // Of layer l; the last one is linear.
    PolicyCell cell(size_t l) const { return l < cells.size() ? cells[l] : PolicyCell::linear; }
    // Numbers that a row remembers from step to step, layer by layer.
    size_t memory() const {
        size_t all = 0;
        for (size_t l = 0; l < cells.size(); ++l) all += remembers(cells[l]) ? sizes[l + 1] : 0;
        return all;
    }
};

}
