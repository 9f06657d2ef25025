// What a policy keeps whose layers go through memory: rows at every level, and the sums of its gradients.
#include "algorithms/policy_gradient/layers/streamed_policy.h"

namespace learn {

// Rows go through in parts of about two gigabytes, however many there are. An emulation goes through small ones, so that
// tests have several.
uint32_t StreamedPolicy::room_for(uint64_t rows, uint64_t row_bytes) const {
    const uint64_t most_bytes = settings_.emulates ? 0 : uint64_t(2) << 30,
                   fewest = settings_.emulates ? 256 : 8192;
    const uint64_t most = std::max(most_bytes / row_bytes, fewest) / product_rows * product_rows;
    return uint32_t(std::min(whole_blocks(rows), most));
}
uint64_t StreamedPolicy::numbers_of_a_row() const {
    const auto padded = [](int64_t width) {
        return uint64_t(tiles_along(uint64_t(width))) * tile_side;
    };
    uint64_t numbers = padded(seen_) + networks_.size() * numbers_of_convolutions();
    uint64_t floats = 0;
    for (const Network& network : networks_)
        for (size_t l = 0; l < network.layers(); ++l) {
            const int64_t width = network.widths[l + 1];
            const uint64_t gates = padded(gates_of(network.cells[l]) * width);
            numbers += padded(width) * (policy_.keeps_input() ? 3 : 2);
            if (learn::remembers(network.cells[l])) {
                const bool gru = network.cells[l] == Cell::gru;
                numbers += 2 * gates + padded(width);
                if (gru || policy_.planes > 1) floats += gru ? 2 * gates : gates;
                else numbers += gates;
            }
        }
    return numbers * uint64_t(policy_.planes) + 2 * floats;
}

// Into how many shares the rows of gradients go whose parts are so many blocks: as many as fill the multiprocessors best.
uint32_t StreamedPolicy::best_splits(uint64_t blocks, uint64_t at_once, uint64_t floats,
                                     uint64_t rows) const {
    const uint64_t steps = tiles_along(rows);
    if (settings_.emulates) return uint32_t(std::min<uint64_t>(2, steps));
    // In steps of a block; writing and reading a slot of 256 thousand sums takes about as long as one.
    const auto time = [&](uint64_t splits) {
        return divided_up(blocks * splits, at_once) * divided_up(steps, splits) +
               splits * floats / (256 << 10);
    };
    uint64_t best = 1;
    for (uint64_t splits = 2; splits <= 64 && splits * 4 <= steps; ++splits)
        if (time(splits) < time(best)) best = splits;
    return uint32_t(best);
}
// The same for all layers of a launch, so that all of its blocks take equally long: one has those for clusters.
void StreamedPolicy::plan_sums(uint64_t rows) {
    uint64_t blocks = 0, floats = 0, parts = 0, floats_of_clusters = 0;
    for (const Network& network : networks_)
        for (size_t m = 0; m < network.slots.size(); ++m) {
            const LayerSlots& layer = network.slots[m];
            if (is_summed_apart(network, m)) continue;
            if (sums_in_clusters(layer)) {
                parts += cluster_parts(layer.out, layer.in, policy_.planes);
                floats_of_clusters += layer.slot_floats;
            } else {
                blocks += product_blocks(layer.out, layer.in, weight_columns);
                floats += layer.slot_floats;
            }
        }
    const uint32_t by_blocks = best_splits(
                       blocks, processors * product_resident(policy_.planes, weight_columns),
                       floats, rows),
                   by_clusters = best_splits(parts, most_clusters, floats_of_clusters, rows);
    for (Network& network : networks_)
        for (size_t m = 0; m < network.slots.size(); ++m) {
            LayerSlots& layer = network.slots[m];
            layer.splits = is_summed_apart(network, m) ? slots_apart(m)
                           : sums_in_clusters(layer)   ? by_clusters
                                                       : by_blocks;
            while (layer.sharers < 64 && layer.sharers * 4 < layer.splits) layer.sharers *= 2;
            layer.first_block = sum_blocks_;
            uint32_t together = block_threads / layer.sharers * 4;
            layer.rounds = std::clamp(layer.slot_floats / together / (2 * processors), 1u, 16u);
            together *= layer.rounds;
            sum_blocks_ += (layer.slot_floats + together - 1) / together;
        }
}

void* StreamedPolicy::array(const std::string& which, nacelle::Dtype dtype, uint64_t count) const {
    const std::vector<int64_t> shape = {int64_t(count)};
    return host_
        .array_create(policy_.name + ".policy.stream." + which, uint32_t(dtype), shape, false)
        .data;
}
TiledMatrix StreamedPolicy::rows_of(const std::string& which, int64_t width) const {
    const uint32_t across = tiles_along(uint64_t(width));
    const uint64_t plane = uint64_t(room_) * across * tile_side;
    void* const numbers = array(which, nacelle::Dtype::u32, plane * uint64_t(policy_.planes) / 2);
    return {static_cast<uint16_t*>(numbers), plane, across};
}

void StreamedPolicy::make_arrays(Arguments& arguments) {
    PolicyState& state = arguments.policy[number_];
    const int planes = policy_.planes;
    stream_.seen = rows_of("seen", seen_);
    stream_.present = static_cast<uint8_t*>(array("present", nacelle::Dtype::u8, room_ / 32));
    std::vector<LayerSlots> layers;
    for (size_t n = 0; n < networks_.size(); ++n) {
        Network& network = networks_[n];
        const std::string prefix = n ? "critic." : "actor.";
        const size_t last = network.layers();
        network.seen = network.straight = network.slopes =
            std::vector<TiledMatrix>(network.widths.size(), TiledMatrix{});
        // The weights, as Prepared of the kernels has them; a second network begins on 64 words.
        const Network& first = networks_[0];
        const uint64_t conv_floats = uint64_t(conv_words(encoder_, planes));
        float* prepared = state.prepared;
        if (n > 0)
            prepared += second_network_at(
                conv_floats + tiled_words(first.matrices, int(first.matrices.size()), planes));
        network.seen[0] = stream_.seen;
        make_conv_matrices(network, prefix, prepared);
        prepared += conv_floats;
        for (size_t l = 1; l <= last; ++l) {
            const std::string level = prefix + std::to_string(l);
            if (l < last) network.seen[l] = rows_of(level, network.widths[l]);
            if (!learns()) continue;
            if (l > 1 || !plan().first_at_once())
                network.slopes[l] = rows_of(level + ".slopes", network.widths[l]);
            if (l < last && policy_.keeps_input())
                network.straight[l] = rows_of(level + ".inputs", network.widths[l]);
        }
        network.pitch = in_fours(uint64_t(network.widths[last]));
        network.outputs = static_cast<float*>(
            array(prefix + "outputs", nacelle::Dtype::f32, uint64_t(room_) * network.pitch));
        stream_.slopes[n] = network.slopes[last];
        stream_.outputs[n] = network.outputs;
        stream_.pitch[n] = network.pitch;
        const int matrices = int(network.matrices.size());
        for (int m = 0; m < matrices; ++m) {
            const MatrixSize& size = network.matrices[size_t(m)];
            network.weights.push_back({reinterpret_cast<uint16_t*>(prepared) +
                                           tiled_weights_before(network.matrices, m, planes),
                                       tiled_numbers(size), tiles_along(uint64_t(size.in))});
            network.biases.push_back(prepared +
                                     tiled_weights_before(network.matrices, matrices, planes) / 2 +
                                     tiled_biases_before(network.matrices, m));
            LayerSlots& slots = network.slots[size_t(m)];
            if (learns())
                slots.gradient = static_cast<float*>(
                    array(prefix + std::to_string(m) + ".gradient", nacelle::Dtype::f32,
                          uint64_t(slots.splits) * slots.slot_floats));
            layers.push_back(slots);
        }
    }
    if (remembers()) make_memory();
    if (!learns()) return;
    for (size_t n = 0; n < networks_.size(); ++n)
        for (size_t l = 0; l < networks_[n].convolutions.size(); ++l) {
            LayerSlots& slots = networks_[n].convolutions[l].slots;
            slots.gradient = static_cast<float*>(
                array((n ? "critic.conv" : "actor.conv") + std::to_string(l) + ".gradient",
                      nacelle::Dtype::f32, uint64_t(slots.splits) * slots.slot_floats));
            layers.push_back(slots);
        }
    for (const LayerSlots& layer : layers) peer_room_ += peer_floats(layer.slot_floats);
    const uint64_t bytes = layers.size() * sizeof(LayerSlots);
    void* const table = array("layers", nacelle::Dtype::u8, bytes);
    host_.write(table, layers.data(), bytes);
    stream_.layers = static_cast<const LayerSlots*>(table);
    stream_.layer_count = uint32_t(layers.size());
}

}
