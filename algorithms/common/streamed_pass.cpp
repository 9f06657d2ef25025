// How a row pass is launched.
#include "algorithms/common/streamed_policy.h"

namespace learn {

void StreamedPolicy::pass_rows(const StreamArguments& a, void* stream) const {
    PassArguments with{a, {}};
    for (size_t n = 0; n < networks_.size(); ++n) {
        const Network& network = networks_[n];
        for (size_t l = 0; l < network.layers(); ++l)
            with.layers[n][l] = {.weights = network.weights[l].at,
                                 .weights_plane = network.weights[l].plane,
                                 .bias = network.biases[l],
                                 .seen = network.seen[l + 1].at,
                                 .straight = network.straight[l + 1].at,
                                 .slopes = network.slopes[l + 1].at,
                                 .level_plane = network.slopes[l + 1].plane,
                                 .in = uint32_t(network.widths[l]),
                                 .out = uint32_t(network.widths[l + 1]),
                                 .read = uint32_t(networks_[0].widths[l + 1])};
    }
    kernels_.launch("row_pass", number_, with, stream);
}

}
