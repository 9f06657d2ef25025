#pragma once
#include <learn/gpu/warp_layers.h>
#include <learn/record.h>
// A policy's networks at work on tensor cores: 16 rows of a warp at a time, each owned by a lane.

namespace learn {

inline constexpr int warp_rows = 16;
inline constexpr int most_in_registers = 48;    // tiles of weights that a warp keeps for all steps

// Room in shared memory where a warp's rows meet: normalised observations as pairs, then outputs.
template <class L> struct Desk {
    static constexpr int pitch_in = 8 * Fragments<L>::in_tiles(0) + 4,
                         outputs = 8 * Fragments<L>::out_tiles(L::count - 1),
                         pitch_out = outputs + 1;
    uint32_t in[warp_rows * pitch_in];
    float out[warp_rows * pitch_out];
};

// From the desk's inputs to its outputs; the whole warp comes along.
template <class L, class Weights>
NACELLE_INLINE void think_once(Desk<L>& desk, const Weights& weights, const float* bias) {
    Trail<L> trail;
    __syncwarp();
    trail.take(desk.in, Desk<L>::pitch_in);
    trail.forward(weights, bias, [&](int j, const float(&c)[4]) {
        const int g = warp_lane() / 4, column = 8 * j + 2 * (warp_lane() % 4);
        float* const upper = desk.out + g * Desk<L>::pitch_out + column;
        float* const lower = upper + 8 * Desk<L>::pitch_out;
        upper[0] = c[0];
        upper[1] = c[1];
        lower[0] = c[2];
        lower[1] = c[3];
    });
    __syncwarp();
}

template <class E, int policy, class L> struct WarpNetwork {
    using F = Fragments<L>;
    static constexpr bool in_registers = F::all_tiles <= most_in_registers;
    static constexpr int width = width_of<E, policy>;
    using Weights =
        Either<in_registers, WeightsInRegisters<in_registers ? F::all_tiles : 1>, WeightsInMemory>;

    // One row's numbers, written by the lane that owns it. What is behind them stays zero.
    static NACELLE_INLINE void put(Desk<L>& desk, int row, const float* obs, const float* mean,
                                   const float* scale) {
        uint32_t* const to = desk.in + row * Desk<L>::pitch_in;
        NACELLE_FOURFOLD for (int k = 0; k < width; k += 2) {
            const float first = normal_of(obs[k], mean[k], scale[k]);
            const float second =
                k + 1 < width ? normal_of(obs[k + 1], mean[k + 1], scale[k + 1]) : 0;
            to[k / 2] = pair_of(first, second);
        }
    }
    static NACELLE_INLINE void clear(Desk<L>& desk) {
        for (int i = warp_lane(); i < warp_rows * Desk<L>::pitch_in; i += 32) desk.in[i] = 0;
    }
    static NACELLE_INLINE void think(Desk<L>& desk, const Weights& weights, const float* bias) {
        think_once<L>(desk, weights, bias);
    }
    static NACELLE_INLINE const uint32_t* words(const float* prepared) {
        return reinterpret_cast<const uint32_t*>(prepared) + 2 * warp_lane();
    }
};

}
