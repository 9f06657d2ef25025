#pragma once
#include <learn/layout/arguments.h>
// What host and kernels share of an update on a CPU whose layers are products of their own.

namespace learn {

// A task computes so many neurons for so many rows; of a gradient, the weights from so many inputs to so many outputs.
inline constexpr uint32_t task_rows = 128, task_neurons = 128, task_inputs = 32, task_outputs = 128;
// Numbers behind the levels that a product may read and never uses.
inline constexpr uint64_t levels_slack = 512;

constexpr uint32_t tasks_along(uint64_t count, uint32_t each) {
    return uint32_t((count + each - 1) / each);
}
// Neurons of a network's layers, its inputs aside, before layer l's outputs.
template <class Widths> constexpr uint64_t neurons_before(const Widths& width, int l) {
    uint64_t count = 0;
    for (int k = 1; k <= l; ++k) count += uint64_t(width[k]);
    return count;
}
// Numbers that a network leaves of a row: what it computed, the slopes along it and, where those need it, what went
// into the activations.
template <class Widths>
constexpr uint64_t level_numbers(const Widths& width, int layers, bool keeps_input) {
    return neurons_before(width, layers) * (keeps_input ? 3 : 2);
}
// Tasks that share the gradient of a layer's weights.
constexpr uint32_t weight_tasks(int64_t in, int64_t out) {
    return tasks_along(uint64_t(in), task_inputs) * tasks_along(uint64_t(out), task_outputs);
}

struct LayerArguments {
    Arguments all;
    float* levels;           // [numbers of a row][room]: what is seen, then of each network
    uint32_t room;           // rows that there is room for, a multiple of task_rows
    uint32_t first, rows;    // of the minibatch, or of the rollout
    uint32_t network, layer;
    uint32_t shard;      // whose rows these are, in a gradient
    uint32_t adds;       // to what rows of the shard before them have left there
    uint32_t reviews;    // rows are those of the rollout in their order
};

}
