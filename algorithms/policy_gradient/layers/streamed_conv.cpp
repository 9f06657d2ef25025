// The convolutions of a policy whose layers go through memory.
#include "algorithms/policy_gradient/layers/streamed_policy.h"

namespace learn {

uint64_t StreamedPolicy::numbers_of_convolutions() const {
    uint64_t numbers = 0;
    for (int l = 0; l < encoder_.count; ++l)
        numbers += uint64_t(tiles_along(uint64_t(made_by(encoder_, l)))) * tile_side *
                   (policy_.keeps_input() ? 3 : 2);
    return numbers;
}

void StreamedPolicy::plan_convolutions(Network& network, uint32_t parameter) {
    for (int l = 0; l < encoder_.count; ++l) {
        const Convolution& c = encoder_.layer[l];
        const uint32_t in = uint32_t(c.patch()), out = uint32_t(c.out), pitch = in_fours(in);
        network.convolutions.emplace_back().slots = {.gradient = nullptr,
                                                     .slot_floats = out * pitch + in_fours(out),
                                                     .splits = 1,
                                                     .in = in,
                                                     .out = out,
                                                     .pitch = pitch,
                                                     .parameter = parameter,
                                                     .first_block = 0,
                                                     .sharers = 1,
                                                     .rounds = 1,
                                                     .first_blind = out,
                                                     .end_blind = out};
        parameter += (in + 1) * out;
    }
}

// Blocks that sum the weights' gradients, each into a slot: as many as there is room for at once, and few enough that
// adding them up costs little.
void StreamedPolicy::plan_conv_sums(uint64_t rows) {
    constexpr uint64_t most_floats = 5 << 20;
    for (Network& network : networks_)
        for (int l = 0; l < encoder_.count; ++l) {
            LayerSlots& slots = network.convolutions[size_t(l)].slots;
            const ConvBlock block = weights_block(encoder_, l, policy_.planes);
            const uint64_t batches = (rows + uint64_t(block.samples) - 1) / uint64_t(block.samples);
            const uint64_t sections =
                uint64_t(ConvWeights(encoder_.layer[l], policy_.planes).sections);
            const uint64_t at_once = settings_.emulates ? 2 : 2 * processors / sections;
            slots.splits = uint32_t(
                std::max<uint64_t>(1, std::min({batches, at_once,
                                                std::max<uint64_t>(most_floats / slots.slot_floats,
                                                                   processors / sections)})));
            while (slots.sharers < 16 && slots.sharers * 4 < slots.splits) slots.sharers *= 2;
            slots.first_block = sum_blocks_;
            const uint32_t together = block_threads / slots.sharers * 4;
            sum_blocks_ += (slots.slot_floats + together - 1) / together;
        }
}

void StreamedPolicy::make_conv_matrices(Network& network, const std::string& prefix,
                                        const float* prepared) const {
    for (int l = 0; l < encoder_.count; ++l) {
        ConvLevel& level = network.convolutions[size_t(l)];
        const std::string name = prefix + "conv" + std::to_string(l);
        const int64_t width = made_by(encoder_, l);
        level.weights = prepared + conv_words_before(encoder_, l, policy_.planes);
        level.made = rows_of(name, width);
        if (!learns()) continue;
        level.slopes = rows_of(name + ".slopes", width);
        if (policy_.keeps_input()) level.straight = rows_of(name + ".inputs", width);
    }
    if (encoder_.count == 0) return;
    const ConvLevel& last = network.convolutions.back();
    network.seen[0] = last.made;
    network.straight[0] = last.straight;
    network.slopes[0] = last.slopes;
}

ConvPass StreamedPolicy::conv_pass(const Network& network, int l, uint32_t rows,
                                   const Products& with) const {
    const ConvLevel& level = network.convolutions[size_t(l)];
    ConvPass pass{};
    pass.in = l > 0 ? network.convolutions[size_t(l) - 1].made : stream_.seen;
    pass.obs = stream_.seen;
    pass.out = level.made;
    pass.kept = level.straight;
    pass.slopes = level.slopes;
    pass.weights = level.weights;
    pass.found = with.found;
    pass.present = with.present;
    pass.rows = rows;
    return pass;
}
void StreamedPolicy::launch_conv(KernelName name, int l, const ConvPass& pass, uint64_t count,
                                 void* stream) const {
    kernels_.launch(name, plan().first_convolution + uint32_t(l), pass, stream, count);
}
void StreamedPolicy::convolve(uint32_t rows, Which which, const Products& with,
                              void* stream) const {
    for (int l = 0; l < encoder_.count; ++l)
        for (const Network* const network : networks(which))
            launch_conv("conv_forward", l, conv_pass(*network, l, rows, with), rows, stream);
}
// From the slopes along what the last convolution has made.
void StreamedPolicy::convolve_back(uint32_t rows, const Products& with, void* stream) const {
    for (const Network& network : networks_)
        for (int l = encoder_.count - 1; l >= 0; --l) {
            ConvPass pass = conv_pass(network, l, rows, with);
            const LayerSlots& slots = network.convolutions[size_t(l)].slots;
            pass.sums = const_cast<float*>(slots.gradient);
            pass.slot_floats = slots.slot_floats;
            pass.pitch = slots.pitch;
            pass.splits = slots.splits;
            pass.adds = with.adds;
            const auto sections = uint64_t(ConvWeights(encoder_.layer[l], policy_.planes).sections);
            launch_conv("conv_weights", l, pass, slots.splits * sections, stream);
            if (l == 0) continue;
            const ConvLevel& before = network.convolutions[size_t(l) - 1];
            pass.out = before.slopes;
            pass.kept = policy_.keeps_input() ? before.straight : before.made;
            launch_conv("conv_backward", l, pass, rows, stream);
        }
}

}
