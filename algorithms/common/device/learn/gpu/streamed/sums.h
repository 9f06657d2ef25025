#pragma once
#include <learn/gpu/streamed/rows.h>
#include <learn/optimiser.h>
// The sum of each parameter's gradient over its layer's slots. A block has four neighbours for each of its quads of
// threads, and several rounds of those in a large layer; where a layer has many slots, several threads share them.

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
    constexpr uint32_t at_once = 4;
    __shared__ float parts[block_threads][4];
    const PolicyState& state = a.all.policy[policy];
    const uint32_t block = uint32_t(items.begin / block_threads), thread = threadIdx.x;
    if (block > state.sum_blocks || state.found[stopped] != 0) return;
    if (block == state.sum_blocks) return judge_by_tallies<E, policy>(state);
    const LayerSlots* layer = a.stream.layers;
    for (uint32_t l = 1; l < a.stream.layer_count && block >= layer[1].first_block; ++l) ++layer;
    const LayerSlots its = *layer;
    const uint32_t quads = block_threads / its.sharers, share = thread / quads;
    const float one = among_ranks ? 1.0f : one_over_samples(state);
    Sums<1> squares;
    for (uint32_t round = 0; round < its.rounds; ++round) {
        const uint32_t first =
            (((block - its.first_block) * its.rounds + round) * quads + thread % quads) * 4;
        Four sum{};
        for (uint32_t slot = share; first < its.slot_floats && slot < its.splits;
             slot += at_once * its.sharers) {
            Four read[at_once];
            NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
                const uint32_t at = slot + k * its.sharers;
                read[k] = at < its.splits
                              ? four_at(its.gradient + size_t(at) * its.slot_floats + first)
                              : Four{};
            }
            NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) sum.at[i] += read[k].at[i];
            }
        }
        if (its.sharers > 1) {
            __syncthreads();    // the last round's have been read
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) parts[thread][k] = sum.at[k];
            __syncthreads();
            for (uint32_t i = 1; thread < quads && i < its.sharers; ++i) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum.at[k] +=
                    parts[i * quads + thread][k];
            }
        }
        NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
            if (thread >= quads || first + k >= its.slot_floats) continue;
            const SlotPlace place(its, first + k);
            if (place.parameter < 0) continue;
            const float all = place.blind ? 0.0f : sum.at[k] * one;
            state.total[place.parameter] = all;
            squares.at[0] += double(all) * double(all);
        }
    }
    store_sums(squares, state.norms + block);
}

}
