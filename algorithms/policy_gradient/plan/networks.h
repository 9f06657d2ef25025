#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

#include <learn/formulas/conv.h>

namespace learn {

// The sizes of one policy's networks, as the kernels' Networks have them.
struct NetworkShape {
    uint32_t parts = 0, choices = 0, reals = 0;    // of its actions
    bool shared = true;
    bool elsewhere = false;    // a critic of its own gives the values
    bool free_deviation = true;
    int64_t seen = 0;    // numbers of a row, images and all
    Encoder encoder;     // in front of each network
    // Widths behind the convolutions, the input first; the critic's is empty unless it has two.
    std::vector<int64_t> actor, critic;
    std::vector<Cell> cells;    // what each hidden layer is
    // Of a network that is none of layers, in their place.
    bool own = false;
    int64_t own_parameters = 0, own_memory = 0;

    NetworkShape(const PolicySettings& policy, const nacelle_environment& environment);
    int64_t outputs() const { return choices + 2 * int64_t(reals); }
    int64_t networks() const { return critic.empty() ? 1 : 2; }
    // The matrices of a network of these widths, `actor` or `critic`, layer by layer.
    std::vector<MatrixSize> matrices(const std::vector<int64_t>& widths) const;
    int64_t parameters() const {
        if (own) return own_parameters;
        return networks() * encoder.parameters() + count(actor) + count(critic);
    }
    // Floats of one slot's gradient in any order that a kernel may keep them in.
    int64_t gradient_floats() const {
        return networks() * packed(encoder) + packed(actor) + packed(critic);
    }
    // Floats that a row remembers from step to step, of all networks.
    int64_t memory() const;

private:
    int64_t count(const std::vector<int64_t>& widths) const;
    int64_t packed(const std::vector<int64_t>& widths) const;
    static int64_t packed(const Encoder& encoder);
    static int64_t packed(const MatrixSize& matrix);
};

// Orthogonal weights with the policy's gains, and biases of zero; what draws them is the run's seed.
std::vector<float> initial_weights(const NetworkShape& shape, const PolicySettings& policy,
                                   uint64_t seed, uint32_t number);

}
