#pragma once
#include <learn/gpu/fused/layers.h>
#include <learn/record.h>
// A policy's networks at work on tensor cores: 16 rows of a warp at a time, each owned by a lane.

namespace learn {

inline constexpr int most_in_registers = 48;    // tiles of weights that a warp keeps for all steps

// Beyond so many tiles all of a network unrolled takes seconds to compile: then the layers' outputs go
// through shared memory, and their tiles are counted at run time. With several planes there are not enough registers.
inline constexpr int most_unrolled = 100;
template <class L>
inline constexpr bool is_rolled = L::planes > 1 || Fragments<L>::all_tiles > most_unrolled;

// Room in shared memory where a warp's rows meet: normalised observations as pairs, then outputs.
template <class L> struct RowStage {
    static consteval int most_tiles() {
        int most = Fragments<L>::in_tiles(0);
        for (int l = 1; l < L::count && is_rolled<L>; ++l)
            most = Fragments<L>::in_tiles(l) > most ? Fragments<L>::in_tiles(l) : most;
        return most;
    }
    static constexpr int pitch_in = 8 * most_tiles() * L::planes + 4,
                         outputs = 8 * Fragments<L>::out_tiles(L::count - 1),
                         pitch_out = outputs + 1;
    alignas(16) uint32_t in[warp_rows * pitch_in];
    float out[warp_rows * pitch_out];
};

template <class L, int l, class Weights>
NACELLE_INLINE void forward_layers(RowStage<L>& stage, const Weights& weights, const float* bias) {
    using F = Fragments<L>;
    using D = RowStage<L>;
    constexpr int planes = F::planes;
    roll_layer<L, l>(stage.in, D::pitch_in, weights, bias, [&](int j, const float(&c)[4]) {
        if constexpr (l + 1 == L::count) store_outputs(stage.out, D::pitch_out, j, c);
        else {
            const auto upper = bent_pair<L::activation, planes>(c[0], c[1]);
            const auto lower = bent_pair<L::activation, planes>(c[2], c[3]);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) store_pair(
                stage.in + 8 * F::in_tiles(l + 1) * p, D::pitch_in, j, upper.at[p], lower.at[p]);
        }
    });
    if constexpr (l + 1 < L::count) forward_layers<L, l + 1>(stage, weights, bias);
}
// From the stage's inputs to its outputs; the whole warp comes along.
template <class L, class Weights>
NACELLE_INLINE void forward_rows(RowStage<L>& stage, const Weights& weights, const float* bias) {
    __syncwarp();
    if constexpr (is_rolled<L>) forward_layers<L, 0>(stage, weights, bias);
    else {
        LayerFragments<L> fragments;
        fragments.take(stage.in, RowStage<L>::pitch_in);
        fragments.forward(weights, bias, [&](int, int j, const float(&c)[4]) {
            store_outputs(stage.out, RowStage<L>::pitch_out, j, c);
        });
        __syncwarp();
    }
}

template <class E, int policy, class L> struct WarpNetwork {
    using F = Fragments<L>;
    static constexpr int planes = F::planes;
    static constexpr bool in_registers = !is_rolled<L> && F::all_tiles <= most_in_registers;
    using Weights = Either<in_registers, WeightsInRegisters<in_registers ? F::all_tiles : 1>,
                           TilesInMemory<planes>>;

    static NACELLE_INLINE void put(RowStage<L>& stage, int row, const float* obs,
                                   const Memory& memory) {
        put_row<width_of<E, policy>, planes>(stage.in + row * RowStage<L>::pitch_in, obs, memory);
    }
    static NACELLE_INLINE void clear(RowStage<L>& stage) {
        for (int i = warp_lane(); i < warp_rows * RowStage<L>::pitch_in; i += 32) stage.in[i] = 0;
    }
    static NACELLE_INLINE void forward(RowStage<L>& stage, const Weights& weights,
                                       const float* bias) {
        forward_rows<L>(stage, weights, bias);
    }
    static NACELLE_INLINE const uint32_t* words(const float* prepared) {
        return reinterpret_cast<const uint32_t*>(prepared) + 2 * warp_lane();
    }
};

}
