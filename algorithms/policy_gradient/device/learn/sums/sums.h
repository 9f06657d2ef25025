#pragma once
#include <learn/formulas/optimiser.h>
#include <learn/gpu/dense/rows.h>
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
    const ExchangeOf<policy> exchange(a.all);
    if (block == state.sum_blocks) return judge_by_tallies<E, policy>(exchange, a.all);
    const LayerSlots* layer = a.stream.layers;
    uint64_t word = 0;    // of the layer's first place, where ranks exchange sums
    for (uint32_t l = 1; l < a.stream.layer_count && block >= layer[1].first_block; ++l)
        word += peer_floats(layer++->slot_floats);
    const LayerSlots its = *layer;
    const uint32_t quads = block_threads / its.sharers, share = thread / quads;
    SampleCount<E, policy> samples(exchange, state, block);
    samples.find();
    constexpr int shots = shots_of<policy>;
    float one = shots > 0 ? 1.0f : samples.one_over_all();
    Sums<1> squares;
    const auto first_of = [&](uint32_t round) {
        return (((block - its.first_block) * its.rounds + round) * quads + thread % quads) * 4;
    };
    // Half of four neighbours: those of 32 threads lie side by side.
    const auto word_of = [&](uint32_t first, uint32_t half) {
        return word + first / 128 * 128 + 64 * half + first / 4 % 32 * 2;
    };
    const auto keep = [&](uint32_t first, const Four& sum) {
        NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
            const SlotPlace place(its, first + k);
            if (place.parameter < 0) continue;
            const float all = sum.at[k] * one;
            hand_over_gradient<E, policy>(a.all, uint64_t(place.parameter), all);
            squares.at[0] += double(all) * double(all);
        }
    };
    for (uint32_t round = 0; round < its.rounds; ++round) {
        const uint32_t first = first_of(round);
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
        if (thread >= quads || first >= its.slot_floats) continue;
        NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) if (SlotPlace(its, first + k).blind)
            sum.at[k] = 0;
        if constexpr (shots == 0) keep(first, sum);
        else {
            NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
                const float pair[2] = {sum.at[2 * half], sum.at[2 * half + 1]};
                exchange.template send<shots>(word_of(first, half), pair, block);
            }
            NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                const int parameter = SlotPlace(its, first + k).parameter;
                if (parameter >= 0) state.total[parameter] = sum.at[k];
            }
        }
    }
    if constexpr (shots > 0) {
        one = samples.one_over_all();
        for (uint32_t round = 0; round < its.rounds; ++round) {
            const uint32_t first = first_of(round);
            if (thread >= quads || first >= its.slot_floats) continue;
            Four sum{};
            NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
                float pair[2];
                NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
                    const int parameter = SlotPlace(its, first + 2 * half + k).parameter;
                    pair[k] = parameter >= 0 ? state.total[parameter] : 0.0f;
                }
                exchange.template sum<shots>(word_of(first, half), pair, block);
                sum.at[2 * half] = pair[0];
                sum.at[2 * half + 1] = pair[1];
            }
            keep(first, sum);
        }
    }
    store_sums(squares, state.norms + block);
}

}
