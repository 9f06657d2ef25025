#pragma once
#include <learn/gpu/dense/layers.h>
// A network at work on tensor cores: 16 rows of a warp at a time, each owned by a lane.

namespace learn {

// What this lane reads of prepared weights.
NACELLE_INLINE const uint32_t* own_words(const float* prepared) {
    return reinterpret_cast<const uint32_t*>(prepared) + 2 * warp_lane();
}
// Weights that a warp uses over and over: in its registers where they fit, and where the network is no function that is
// called.
template <class L>
inline constexpr bool keeps_weights = layout_of<L>.in_registers && !nacelle::detail::gpu_draft;
template <class L>
using KeptWeights =
    Either<keeps_weights<L>, WeightsInRegisters<keeps_weights<L> ? layout_of<L>.weight_tiles : 1>,
           TilesInMemory<L::planes>>;

// Words of a row in shared memory that has room for every level of a network.
template <class L> constexpr int widest_pitch() {
    int pitch = 0;
    for (int l = 0; l < L::count; ++l) pitch = max(pitch, layout_of<L>.layer[l].pitch);
    return pitch;
}
// By which a rollout scales what it sees. Few of them stay in registers: in memory they would be read behind what each step
// stores.
template <int width> struct KeptScales {
    float mean[width], scale[width];
    NACELLE_INLINE explicit KeptScales(const Memory& memory) {
        NACELLE_UNROLL for (int k = 0; k < width; ++k) {
            mean[k] = memory.mean[k];
            scale[k] = memory.scale[k];
        }
    }
};
inline constexpr int most_kept_scales = 8;
template <int width>
using ScalesOf = Either<0 < width && width <= most_kept_scales, KeptScales<width>, const Memory&>;

// A warp's rows in shared memory, one or two bands of 16, or half of one: what goes into a layer as pairs, then outputs. The
// whole warp comes along. Where it rolls, tiles are counted at run time, and levels go through shared memory.
template <class L, int bands = 1, bool halves = false, bool rolls = layout_of<L>.rolled>
struct RowStage {
    static constexpr int pitch_in = rolls ? widest_pitch<L>() : layout_of<L>.in_pitch,
                         pitch_out = layout_of<L>.out_pitch, rows = bands * warp_rows;
    alignas(16) uint32_t in[rows * pitch_in];
    float out[rows * pitch_out];

    NACELLE_INLINE void clear() {
        for (int i = warp_lane(); i < rows * pitch_in; i += 32) in[i] = 0;
    }
    // This lane's row.
    template <class Row, class Scales>
    NACELLE_CALLED_IN_DRAFTS void put(const Row& obs, const Scales& scales) {
        put_row<L::in, L::planes>(in + warp_lane() * pitch_in, obs, scales);
    }
    NACELLE_INLINE const float* outputs() const { return outputs(warp_lane()); }
    NACELLE_INLINE const float* outputs(int row) const { return out + row * pitch_out; }
    // Of one band, at any place of this lane's.
    NACELLE_INLINE void put(int row, const float* obs, const Memory& memory) {
        put_row<L::in, L::planes>(in + row * pitch_in, obs, memory);
    }
    template <class Weights>
    NACELLE_CALLED_IN_DRAFTS void forward_band(const Weights& weights, const float* bias,
                                               int band) {
        __syncwarp();
        if constexpr (rolls) forward_from<0>(weights, bias, band);
        else {
            LayerFragments<L, 1> fragments;
            fragments.take(in + band * warp_rows * pitch_in, pitch_in);
            fragments.forward(weights, bias, [&](int, int j, const float(&c)[4]) {
                store_outputs(out + band * warp_rows * pitch_out, pitch_out, j, c);
            });
        }
        __syncwarp();
    }

    template <class Weights>
    NACELLE_CALLED_IN_DRAFTS void forward(const Weights& weights, const float* bias) {
        __syncwarp();
        if constexpr (rolls)
            NACELLE_ROLLED for (int b = 0; b < bands; ++b) forward_from<0>(weights, bias, b);
        else {
            LayerFragments<L, bands, halves> fragments;
            fragments.take(in, pitch_in);
            fragments.forward(weights, bias, [&](int b, int j, const float(&c)[4]) {
                store_outputs(out + b * warp_rows * pitch_out, pitch_out, j, c);
            });
            __syncwarp();
        }
    }

private:
    template <int l, class Weights>
    NACELLE_INLINE void forward_from(const Weights& weights, const float* bias, int band) {
        constexpr int planes = L::planes, apart = 8 * layer_of<L, l + 1>.in_tiles;
        uint32_t* const from = in + band * warp_rows * pitch_in;
        float* const to = out + band * warp_rows * pitch_out;
        roll_layer<L, l>(from, pitch_in, weights, bias, [&](int j, const float(&c)[4]) {
            if constexpr (l + 1 == L::count) store_outputs(to, pitch_out, j, c);
            else {
                const auto upper = activated_pair<L::activation, planes>(c[0], c[1]);
                const auto lower = activated_pair<L::activation, planes>(c[2], c[3]);
                NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                    store_pair(from + apart * p, pitch_in, j, upper.at[p], lower.at[p]);
            }
        });
        if constexpr (l + 1 < L::count) forward_from<l + 1>(weights, bias, band);
    }
};

}
