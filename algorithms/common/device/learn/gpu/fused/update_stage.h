#pragma once
#include <learn/gpu/fused/inference.h>
#include <learn/gpu/prepared.h>
// How a block of warps cuts the gradient of a network among itself, and where things lie in its shared memory.
// tensor_fit.cpp works out the same on the host.

namespace learn {

template <class L> struct UpdateStage {
    using F = Fragments<L>;
    // More warps for wider networks, whose weights' sums would not fit into the registers of four.
    static constexpr int warps = L::widest_input() > 64 ? 8 : 4, threads = 32 * warps;
    // Level l is what goes into layer l; the last one has the slopes along the outputs alone.
    static consteval int tiles(int l) { return tiles_of(L::width[l], 16); }
    static consteval int pitch(int l) { return 8 * tiles(l) * F::planes + 4; }
    static consteval int pitches(int first, int end) {
        int words = 0;
        for (int l = first; l < end; ++l) words += pitch(l);
        return words;
    }
    static constexpr int out_pitch = RowStage<L>::pitch_out;
    static consteval int words_for(int rows) {
        return (rows * (pitches(0, L::count) + pitches(1, L::count + 1) + out_pitch) + F::size +
                3) /
               4 * 4;
    }

    // Sums of the weights' gradients that a warp keeps: pairs of tiles of 16 by 8, in the order of layer,
    // inputs, outputs.
    static consteval int across(int l) { return (F::out_tiles(l) + 1) / 2; }
    static consteval int units(int l) { return (F::in_tiles(l) * across(l) + warps - 1) / warps; }
    static consteval int units_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += units(i);
        return n;
    }
    static constexpr int all_units = units_before(L::count);
    // Sums of the slopes, for the biases: so many pairs of tiles of 8 outputs a warp.
    static consteval int bias_units(int l) { return (across(l) + warps - 1) / warps; }
    static consteval int bias_units_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += bias_units(i);
        return n;
    }
    static constexpr int all_bias_units = bias_units_before(L::count);

    // A warp takes two bands of 16 samples at once where what both leave behind fits into its registers, and two
    // such blocks into shared memory: they share what is read of the weights.
    static constexpr int most_held = 140, most_bytes = 113 * 1024;
    static constexpr int held =
        8 * LayerFragments<L>::tiles * (LayerFragments<L>::keeps_input ? 2 : 1) + 8 * all_units +
        4 * all_bias_units;
    static constexpr int bands =
        warps == 4 && F::planes == 1 && held <= most_held && 4 * words_for(128) <= most_bytes ? 2
                                                                                              : 1;
    static constexpr int own_rows = warp_rows * bands, samples = own_rows * warps;
    static constexpr int words = words_for(samples);
    static consteval int seen_before(int l) { return pitches(0, l) * samples; }
    static consteval int slopes_before(int l) {    // of level l, from 1
        return (pitches(0, L::count) + pitches(1, l)) * samples;
    }
    static constexpr int weights_start = slopes_before(L::count + 1);
    static constexpr int out_start = weights_start + F::size;
};

// The rows of one warp of a block.
template <class L> struct WarpStage {
    using B = UpdateStage<L>;
    using F = Fragments<L>;
    uint32_t* stage;
    int warp;

    NACELLE_INLINE WarpStage(uint32_t* its_stage, int its_warp)
        : stage(its_stage), warp(its_warp) {}
    template <int l> NACELLE_INLINE uint32_t* seen() const {
        return stage + B::seen_before(l) + warp * B::own_rows * B::pitch(l);
    }
    template <int l> NACELLE_INLINE uint32_t* slopes() const {
        return stage + B::slopes_before(l) + warp * B::own_rows * B::pitch(l);
    }
    NACELLE_INLINE float* output(int row) const {
        return reinterpret_cast<float*>(stage + B::out_start) +
               (warp * B::own_rows + row) * B::out_pitch;
    }
    // What this lane reads of the tiles of weights from word `start` on.
    NACELLE_INLINE const uint32_t* weights(int start) const {
        return stage + B::weights_start + start + 2 * warp_lane();
    }
    NACELLE_INLINE const float* bias() const {
        return reinterpret_cast<const float*>(stage + B::weights_start) + F::bias_start;
    }
};

}
