#pragma once
#include <learn/gpu/streamed/rows.h>
#include <learn/optimiser.h>
// The sum of each parameter's gradient over its layer's slots. A block has four neighbours for each of its quads of
// threads; where a layer has many slots, several threads share them.

namespace learn {

// The parameter at a place of a slot, or -1, and whether it stays zero.
struct SlotPlace {
    int parameter = -1;
    bool blind = false;

    NACELLE_INLINE SlotPlace(const LayerSlots& layer, uint32_t place) {
        const uint32_t weights = layer.out * layer.pitch;
        if (place < weights) {
            const uint32_t o = place / layer.pitch, i = place % layer.pitch;
            if (i >= layer.in) return;
            parameter = int(layer.parameter + o * layer.in + i);
            blind = o >= layer.first_blind && o < layer.end_blind;
        } else if (place - weights < layer.out)
            parameter = int(layer.parameter + layer.out * layer.in + place - weights);
    }
};
template <class E, int policy>
NACELLE_INLINE void total_streamed(const View<E>&, const StreamArguments& a, Items items) {
    __shared__ float parts[block_threads][4];
    const PolicyState& state = a.all.policy[policy];
    if (state.found[stopped] != 0) return;
    const uint32_t block = uint32_t(items.begin / block_threads), thread = threadIdx.x;
    if (block >= a.stream.sum_blocks) return;
    const LayerSlots* layer = a.stream.layers;
    for (uint32_t l = 1; l < a.stream.layer_count && block >= layer[1].first_block; ++l) ++layer;
    const LayerSlots its = *layer;
    const uint32_t quads = block_threads / its.sharers, share = thread / quads,
                   first = ((block - its.first_block) * quads + thread % quads) * 4;
    Four sum{};
    for (uint32_t slot = share; first < its.slot_floats && slot < its.splits; slot += its.sharers) {
        const Four one = four_at(its.gradient + size_t(slot) * its.slot_floats + first);
        NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum.at[k] += one.at[k];
    }
    NACELLE_UNROLL for (int k = 0; k < 4; ++k) parts[thread][k] = sum.at[k];
    const double count = sum_of<1>(state.tallies + weight, state.parts, tally_count).at[0];
    const float one = count > 0 ? float(1.0 / count) : 0.0f;
    Sums<1> squares;
    for (uint32_t k = 0; thread < quads && k < 4; ++k) {
        if (first + k >= its.slot_floats) continue;
        const SlotPlace place(its, first + k);
        if (place.parameter < 0) continue;
        float all = 0;
        for (uint32_t i = 0; i < its.sharers; ++i) all += parts[i * quads + thread][k];
        all = place.blind ? 0.0f : all * one;
        state.total[place.parameter] = all;
        squares.at[0] += double(all) * double(all);
    }
    store_sums(squares, state.norms + block);
    if (arrives_last(state.arrived, a.stream.sum_blocks))
        decide_by<E, policy>(a.all, a.stream.sum_blocks, thread == 0);
}

}
