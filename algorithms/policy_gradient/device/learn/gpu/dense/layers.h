#pragma once
#include <learn/formulas/critic.h>
#include <learn/gpu/tile/tensor.h>
#include <learn/layout/fused_layout.h>
// A network on tensor cores: a warp takes 16 rows through all layers in registers, each layer's outputs
// being the next one's inputs in the same lanes. Weights are kept as the cores read them. Where tiles have several
// planes, those of a level or of a tile of weights lie plane by plane.

namespace learn {

template <class L>
inline constexpr FusedLayout<> layout_of{L::width, L::count, L::planes,
                                         Curve<L::activation>::needs_input};
template <class L, int l> inline constexpr FusedLayer<int> layer_of = layout_of<L>.layer[l];
// Whether the numbers of a wide first layer lie in the order of place_in_chunks(). Kept pairs are of neighbours.
template <class L> inline constexpr bool reads_in_chunks = layout_of<L>.in_chunks && !keeps_pairs;

// A network's parameters in the order in which its kernels read them.
template <class L> struct FusedOrder {
    static constexpr int planes = L::planes, size = layout_of<L>.prepared;

    // Where element (k, n) of a tile lies among its halves.
    static constexpr int half_in_tile(int k, int n) {
        return 2 * (2 * (n % 8 * 4 + k % 8 / 2) + k % 16 / 8) + k % 2;
    }
    template <int l = 0> static NACELLE_INLINE void store(float* prepared, int index, float value) {
        if constexpr (l + 1 < L::count) {
            constexpr int next = L::before(l + 1);
            if (index >= next) return store<l + 1>(prepared, index, value);
        }
        constexpr FusedLayout<> all = layout_of<L>;
        constexpr FusedLayer<int> its = layer_of<L, l>;
        constexpr int in = L::width[l], out = L::width[l + 1], first = L::before(l);
        const int at = index - first;
        if (at >= in * out) {
            prepared[all.bias_start + its.bias + at - in * out] = value;
            return;
        }
        const int o = at / in,
                  i = l == 0 && reads_in_chunks<L> ? place_in_chunks(at % in) : at % in;
        const int tile = its.weights + i / 16 * its.out_tiles + o / 8,
                  turned = its.turned + o / 16 * 2 * its.in_tiles + i / 8;
        const Planes<planes> pair = planes_of<planes>(value, 0.0f);
        auto* const halves = reinterpret_cast<uint16_t*>(prepared);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const auto half = uint16_t(pair.at[p]);
            uint16_t* const plane = halves + 2 * plane_words * p;
            plane[2 * all.tile_words * tile + half_in_tile(i, o)] = half;
            if constexpr (l > 0)
                plane[2 * all.turned_start + 2 * all.tile_words * turned + half_in_tile(o, i)] =
                    half;
        }
    }
};

template <int planes> struct Fragment { uint32_t at[planes][2]; };
// Weights that a warp reads from memory, or keeps in its registers.
template <int count> struct TilesInMemory {
    static constexpr int planes = count;
    const uint32_t* tiles;    // of this lane
    NACELLE_INLINE Fragment<planes> operator()(int tile) const {
        Fragment<planes> fragment;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint32_t* const from = tiles + (tile * planes + p) * 64;
#if defined(__CUDACC_RTC__)
            const uint2 pair = *reinterpret_cast<const uint2*>(from);
            fragment.at[p][0] = pair.x;
            fragment.at[p][1] = pair.y;
#else
            fragment.at[p][0] = from[0];
            fragment.at[p][1] = from[1];
#endif
        }
        return fragment;
    }
};
using WeightsInMemory = TilesInMemory<1>;
template <int count> struct WeightsInRegisters {
    static constexpr int planes = 1;
    Fragment<1> fragments[count];
    NACELLE_INLINE explicit WeightsInRegisters(const uint32_t* tiles) {
        const WeightsInMemory memory{tiles};
        NACELLE_UNROLL for (int i = 0; i < count; ++i) fragments[i] = memory(i);
    }
    NACELLE_INLINE Fragment<1> operator()(int tile) const { return fragments[tile]; }
};
NACELLE_INLINE int warp_lane() { return int(threadIdx.x % 32); }

// Tiles of 16 rows of pairs in shared memory, `pitch` words apart, where whole rows of a tile are moved at once: their
// place begins at a multiple of four words, and so does each row. Where this lane's begins:
NACELLE_INLINE int tile_corner(int pitch) {
    return warp_lane() % 16 * pitch + warp_lane() / 16 * 4;
}
// The same for tiles that are turned on their way: inputs of a product over rows.
NACELLE_INLINE int turned_corner(int pitch) {
    return (warp_lane() % 8 + warp_lane() / 16 * 8) * pitch + warp_lane() / 8 % 2 * 4;
}
template <int tiles>
NACELLE_INLINE void fetch_tiles(uint32_t (*tile)[4], const uint32_t* rows, int pitch) {
    const uint32_t* const corner = rows + tile_corner(pitch);
    NACELLE_UNROLL for (int k = 0; k < tiles; ++k) load_tiles<false>(tile[k], corner + 8 * k);
}
template <int tiles>
NACELLE_INLINE void put_tiles(uint32_t* rows, int pitch, const uint32_t (*tile)[4]) {
    uint32_t* const corner = rows + tile_corner(pitch);
    NACELLE_UNROLL for (int k = 0; k < tiles; ++k) store_tiles(corner + 8 * k, tile[k]);
}
// Two words of tile j of 8 outputs go where tile j / 2 of 16 inputs of the next layer has them.
NACELLE_INLINE void store_pair(uint32_t* rows, int pitch, int j, uint32_t upper, uint32_t lower) {
    uint32_t* const to = rows + warp_lane() / 4 * pitch + 4 * j + warp_lane() % 4;
    to[0] = upper;
    to[8 * pitch] = lower;
}
// Tile j of a network's outputs.
NACELLE_INLINE void store_outputs(float* rows, int pitch, int j, const float (&c)[4]) {
    float* const upper = rows + warp_lane() / 4 * pitch + 8 * j + 2 * (warp_lane() % 4);
    float* const lower = upper + 8 * pitch;
    upper[0] = c[0];
    upper[1] = c[1];
    lower[0] = c[2];
    lower[1] = c[3];
}
// One row's numbers as pairs, written by the lane that owns it. What is behind them stays zero.
template <int width, int planes = 1, int apart = 8 * tiles_of(width, 16), class Row, class Scales>
NACELLE_INLINE void put_row(uint32_t* to, const Row& obs, const Scales& scales) {
    if constexpr (in_pairs<Row>) {
        NACELLE_FOURFOLD for (int p = 0; p < pairs_of(width); ++p) to[p] = obs.pair(p, scales);
        return;
    } else {
        const float *const mean = scales.mean, *const scale = scales.scale;
        NACELLE_FOURFOLD for (int k = 0; k < width; k += 2) {
            const float first = number_of(obs, k, mean, scale);
            const float second = k + 1 < width ? number_of(obs, k + 1, mean, scale) : 0;
            const Planes<planes> pair = planes_of<planes>(first, second);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) to[apart * p + k / 2] = pair.at[p];
        }
    }
}
// Tiles of 8 outputs that a warp works on at once: a product waits for the one before it in the same tile, and
// others fill the time.
constexpr int tiles_at_once(int tiles) { return tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1; }
template <int bands, int together>
NACELLE_INLINE void begin_tiles(float (&c)[bands][together][4], const float* bias) {
    NACELLE_UNROLL for (int j = 0; j < together; ++j) {
        const float first = bias[8 * j], second = bias[8 * j + 1];
        NACELLE_UNROLL for (int b = 0; b < bands; ++b) {
            c[b][j][0] = c[b][j][2] = first;
            c[b][j][1] = c[b][j][3] = second;
        }
    }
}
template <int bands, int together> NACELLE_INLINE void begin_tiles(float (&c)[bands][together][4]) {
    NACELLE_UNROLL for (int b = 0; b < bands; ++b) {
        NACELLE_UNROLL for (int i = 0; i < 4 * together; ++i) c[b][i / 4][i % 4] = 0;
    }
}
// sum += in times a tile of weights, both in planes, those of `in` lying `apart` tiles from each other. Small
// products have a sum of their own: beside the large ones the cores would cut their last bits off.
template <int planes>
NACELLE_INLINE void multiply_planes(float (&large)[4], float (&small)[4], const uint32_t (*in)[4],
                                    int apart, const Fragment<planes>& weights) {
    NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
        NACELLE_UNROLL for (int q = 0; p + q < planes; ++q)
            multiply(p + q > 0 ? small : large, in[p * apart], weights.at[q][0], weights.at[q][1]);
    }
}
// Of each band of 16 rows c[j] = in, from tile `from` on, times tile first + j of the outputs, whose weights are
// `pitch` tiles apart, on top of what is there. Bands share what is read of the weights.
template <int tiles, int bands, int together, int all, class Weights>
NACELLE_INLINE void tile_products(float (&c)[bands][together][4],
                                  const uint32_t (&in)[bands][all][4], int from,
                                  const Weights& weights, int first, int pitch) {
    constexpr int planes = Weights::planes;
    float small[bands][together][4];
    begin_tiles(small);
    NACELLE_UNROLL for (int k = 0; k < tiles; ++k) {
        NACELLE_UNROLL for (int j = 0; j < together; ++j) {
            const Fragment<planes> w = weights(first + j + k * pitch);
            NACELLE_UNROLL for (int b = 0; b < bands; ++b)
                multiply_planes(c[b][j], small[b][j], in[b] + from + k, tiles, w);
        }
    }
    NACELLE_UNROLL for (int i = 0; planes > 1 && i < 4 * bands * together; ++i)
        c[i / 4 / together][i / 4 % together][i % 4] +=
        small[i / 4 / together][i / 4 % together][i % 4];
}
// One layer of 16 rows in shared memory, `pitch` words apart, its tiles counted at run time: leave(j, c) gets tile j of
// what comes out, and may leave it where the rows lay.
template <class L, int l, class Weights, class Leave>
NACELLE_INLINE void roll_layer(const uint32_t* rows, int pitch, const Weights& weights,
                               const float* bias, Leave&& leave) {
    constexpr FusedLayer<int> its = layer_of<L, l>;
    constexpr int tiles = its.in_tiles * L::planes, together = tiles_at_once(its.out_tiles);
    uint32_t in[1][tiles][4];
    fetch_tiles<tiles>(in[0], rows, pitch);
    __syncwarp();
    const float* const start = bias + its.bias + 2 * (warp_lane() % 4);
    NACELLE_ROLLED for (int first = 0; first < its.out_tiles; first += together) {
        float c[1][together][4];
        begin_tiles(c, start + 8 * first);
        tile_products<its.in_tiles>(c, in, 0, weights, its.weights + first, its.out_tiles);
        NACELLE_UNROLL for (int j = 0; j < together; ++j) leave(first + j, c[0][j]);
    }
    __syncwarp();
}
// Column sums as products with ones: those in the upper rows of one factor add up one tile of slopes, those
// in the lower rows of another the next, both into one tile of sums.
NACELLE_INLINE void add_slopes(float (&sum)[4], const uint32_t (&slopes)[4]) {
    constexpr uint32_t ones = 0x3f803f80u, upper[4] = {ones, 0, ones, 0},
                       lower[4] = {0, ones, 0, ones};
    multiply(sum, upper, slopes[0], slopes[1]);
    multiply(sum, lower, slopes[2], slopes[3]);
}

// What bands of 16 rows leave at the layers, the inputs first, where numbers have one plane. Of halves the last eight rows
// are zeros, and nothing is made of them.
template <class L, int bands = 1, bool halves = false> struct LayerFragments {
    static constexpr int tiles = layout_of<L>.input_tiles;
    static constexpr bool keeps_input = Curve<L::activation>::needs_input;

    uint32_t y[bands][tiles][4];
    uint32_t z[bands][keeps_input ? tiles : 1][4];    // before the activation

    // The inputs from rows of pairs in shared memory, `pitch` words apart.
    NACELLE_INLINE void take(const uint32_t* rows, int pitch) {
        NACELLE_UNROLL for (int b = 0; b < bands; ++b)
            fetch_tiles<layer_of<L, 0>.in_tiles>(y[b], rows + 16 * b * pitch, pitch);
    }
    template <int l, int together, class W>
    NACELLE_INLINE void products(float (&c)[bands][together][4], int j, const W& weights,
                                 const float* bias) const {
        constexpr FusedLayer<int> its = layer_of<L, l>;
        begin_tiles(c, bias + its.bias + 8 * j + 2 * (warp_lane() % 4));
        tile_products<its.in_tiles>(c, y, its.inputs, weights, its.weights + j, its.out_tiles);
    }
    // All layers; last(band, j, c) gets the tiles of the outputs.
    template <int l = 0, class W, class Last>
    NACELLE_INLINE void forward(const W& weights, const float* bias, Last&& last) {
        constexpr int tiles = layer_of<L, l>.out_tiles, together = tiles_at_once(tiles);
        NACELLE_UNROLL for (int first = 0; first < tiles; first += together) {
            float c[bands][together][4];
            products<l>(c, first, weights, bias);
            NACELLE_UNROLL for (int b = 0; b < bands; ++b) {
                NACELLE_UNROLL for (int j = 0; j < together; ++j) {
                    if constexpr (l + 1 == L::count) last(b, first + j, c[b][j]);
                    else activate<l + 1>(b, first + j, c[b][j]);
                }
            }
        }
        if constexpr (l + 1 < L::count) forward<l + 1>(weights, bias, last);
    }
    // Tile j of what comes out of a layer is half of one that goes into layer l.
    template <int l> NACELLE_INLINE void activate(int b, int j, const float (&c)[4]) {
        const int tile = layer_of<L, l>.inputs + j / 2, half = j % 2 * 2;
        y[b][tile][half] = PairCurve<L::activation>::at(c[0], c[1]);
        y[b][tile][half + 1] = halves ? 0 : PairCurve<L::activation>::at(c[2], c[3]);
        if constexpr (keeps_input) {
            z[b][tile][half] = pair_of(c[0], c[1]);
            z[b][tile][half + 1] = halves ? 0 : pair_of(c[2], c[3]);
        }
    }
    // The slope along what goes into layer l's activation, where `c` is the slope along what comes out.
    NACELLE_INLINE uint32_t activate_backward(int band, int tile, int word, float first,
                                              float second) const {
        const uint32_t out = y[band][tile][word],
                       in = keeps_input ? z[band][keeps_input ? tile : 0][word] : 0;
        using C = PairCurve<L::activation>;
        return pair_of(first * C::slope(low_half(in), low_half(out)),
                       second * C::slope(high_half(in), high_half(out)));
    }
};

}
