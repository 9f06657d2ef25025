// How a row pass is launched, and the way back that makes a first layer's gradient.
#include "algorithms/policy_gradient/layers/streamed_policy.h"

namespace learn {

PassArguments StreamedPolicy::with_layers(const StreamArguments& a) const {
    PassArguments with{a, {}, {}, {}};
    for (size_t n = 0; n < networks_.size(); ++n) {
        const Network& network = networks_[n];
        const auto end = [](const LayerSlots& slots) {
            return RowPassEnd{const_cast<float*>(slots.gradient), slots.slot_floats, slots.pitch};
        };
        with.first[n] = end(network.slots.front());
        with.last[n] = end(network.slots.back());
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
    return with;
}
void StreamedPolicy::pass_rows(const StreamArguments& a, void* stream) const {
    kernels_.launch("row_pass", number_, with_layers(a), stream);
}
void StreamedPolicy::pass_forward(const StreamArguments& a, void* stream) const {
    kernels_.launch("row_forward", number_, with_layers(a), stream);
}

Product StreamedPolicy::product_back(const Network& network, uint32_t rows, size_t l) const {
    Product p = product_of(network.slopes[l + 1], network.weights[l], rows,
                           uint64_t(network.widths[l]), uint64_t(network.widths[l + 1]));
    p.out = network.slopes[l];
    p.kept = policy_.keeps_input() ? network.straight[l] : network.seen[l];
    return p;
}
void StreamedPolicy::backward_to_first(uint32_t rows, Products with, void* stream) const {
    std::vector<Product> products;
    for (const Network& network : networks_) {
        const LayerSlots& slots = network.slots[0];
        Product& p = products.emplace_back(product_back(network, rows, 1));
        p.inputs = slots.in;
        p.few = network.seen[0].at;
        p.few_sums = const_cast<float*>(slots.gradient);
        p.pitch = slots.pitch;
        p.slot_floats = slots.slot_floats;
        with.stripes += uint32_t(cluster_parts(1, p.n, policy_.planes));
    }
    launch_clusters("first_gradient", products, with, stream);
}

}
