#pragma once
#include <learn/gpu/update/update_stage.h>
// An update's way through the layers with numbers of several planes: 32-bit floats on tensor cores. They would fill
// the registers three times, so each layer goes from shared memory to shared memory.

namespace learn {

// Forward and back for the 16 rows of a warp, in place: a level's slopes come to lie where what went into its
// activation lay.
template <class L> struct PlaneRows : WarpStage<L> {
    static constexpr int planes = L::planes;
    static constexpr bool keeps_input = Curve<L::activation>::needs_input;
    using WarpStage<L>::WarpStage;

    // From what was seen of level l on.
    template <int l> NACELLE_INLINE void forward() const {
        roll_layer<L, l>(this->template seen<l>(), layer_of<L, l>.pitch,
                         TilesInMemory<planes>{this->weights(0)}, this->bias(),
                         [&](int j, const float(&c)[4]) {
                             if constexpr (l + 1 == L::count)
                                 store_outputs(this->output(0), layout_of<L>.out_pitch, j, c);
                             else activate<l + 1>(j, c);
                         });
        if constexpr (l + 1 < L::count) forward<l + 1>();
    }
    // From the slopes along layer l's outputs to those along its inputs, before their activation.
    template <int l> NACELLE_INLINE void backward() const {
        if constexpr (l > 0) {
            constexpr FusedLayer<int> its = layer_of<L, l>, next = layer_of<L, l + 1>;
            constexpr int tiles = next.in_tiles;
            uint32_t slope[1][tiles * planes][4];
            fetch_tiles<tiles * planes>(slope[0], this->template slopes<l + 1>(), next.pitch);
            const TilesInMemory<planes> turned{
                this->weights(this->all.turned_start + its.turned * this->all.tile_words)};
            constexpr int across = 2 * its.in_tiles, together = tiles_at_once(across);
            NACELLE_ROLLED for (int first = 0; first < across; first += together) {
                float c[1][together][4];
                begin_tiles(c);
                tile_products<tiles>(c, slope, 0, turned, first, across);
                NACELLE_UNROLL for (int j = 0; j < together; ++j)
                    activate_backward<l>(first + j, c[0][j]);
            }
            __syncwarp();
            backward<l - 1>();
        }
    }

private:
    // Where this lane's words of tile j lie in a level: of rows g and, eight rows on, g + 8.
    template <int l> static NACELLE_INLINE int place(int j) {
        return warp_lane() / 4 * layer_of<L, l>.pitch + warp_lane() % 4 + 4 * j;
    }
    template <int l> static NACELLE_INLINE void put(uint32_t* to, const Planes<planes>& pair) {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) to[8 * layer_of<L, l>.in_tiles * p] =
            pair.at[p];
    }
    template <int l> static NACELLE_INLINE Planes<planes> get(const uint32_t* from) {
        Planes<planes> pair;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) pair.at[p] =
            from[8 * layer_of<L, l>.in_tiles * p];
        return pair;
    }
    template <int l> NACELLE_INLINE void activate(int j, const float (&c)[4]) const {
        NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
            const int at = place<l>(j) + 8 * layer_of<L, l>.pitch * half;
            const float first = c[2 * half], second = c[2 * half + 1];
            put<l>(this->template seen<l>() + at,
                   activated_pair<L::activation, planes>(first, second));
            if constexpr (keeps_input)
                put<l>(this->template slopes<l>() + at, planes_of<planes>(first, second));
        }
    }
    // Slopes along what comes out of an activation become those along what goes in.
    template <int l> NACELLE_INLINE void activate_backward(int j, const float (&c)[4]) const {
        using C = Curve<L::activation>;
        NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
            const int at = place<l>(j) + 8 * layer_of<L, l>.pitch * half;
            uint32_t* const to = this->template slopes<l>() + at;
            const auto out = get<l>(this->template seen<l>() + at);
            Planes<planes> in{};
            if constexpr (keeps_input) in = get<l>(to);
            put<l>(to, planes_of<planes>(c[2 * half] * C::slope(in.low(), out.low()),
                                         c[2 * half + 1] * C::slope(in.high(), out.high())));
        }
    }
};

// A warp's tiles of the weights' gradients over a round of the block's samples. A round has sums of its own, which
// are added in floats: the cores cut off what their sums have no bits for, and over many rounds that would show.
template <class L, int l = 0>
NACELLE_INLINE void sum_planes(const uint32_t* stage, int warp, float (*sum)[2][4],
                               float (*bias)[4]) {
    if constexpr (l < L::count) {
        constexpr FusedLayer<int> its = layer_of<L, l>, next = layer_of<L, l + 1>;
        constexpr int planes = L::planes, samples = layout_of<L>.samples;
        const uint32_t* const seen = stage + its.seen + turned_corner(its.pitch);
        const uint32_t* const slopes = stage + next.slopes + tile_corner(next.pitch);
        const auto load_slopes = [&](uint32_t(&to)[planes][4], int step, int n) {
            NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                load_tiles<true>(to[p], slopes + step * next.pitch + 8 * next.in_tiles * p + 8 * n);
        };
        NACELLE_UNROLL for (int u = 0; u < its.units; ++u) {
            const int unit = min(warp * its.units + u, its.in_tiles * its.across - 1),
                      m = unit / its.across, n = unit % its.across;
            float large[2][4], small[2][4];
            NACELLE_UNROLL for (int i = 0; i < 8; ++i) large[i / 4][i % 4] = small[i / 4][i % 4] =
                0;
            NACELLE_UNROLL for (int step = 0; step < samples; step += 16) {
                uint32_t inputs[planes][4], outputs[planes][4];
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) load_tiles<true>(
                    inputs[p], seen + step * its.pitch + 8 * its.in_tiles * p + 8 * m);
                load_slopes(outputs, step, n);
                NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
                    Fragment<planes> factor;
                    NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                        factor.at[p][0] = outputs[p][2 * half];
                        factor.at[p][1] = outputs[p][2 * half + 1];
                    }
                    multiply_planes(large[half], small[half], inputs, 1, factor);
                }
            }
            NACELLE_UNROLL for (int i = 0; i < 8; ++i) sum[its.first_unit + u][i / 4][i % 4] +=
                large[i / 4][i % 4] + small[i / 4][i % 4];
        }
        NACELLE_UNROLL for (int u = 0; u < its.bias_units; ++u) {
            const int n = (warp + u * layout_of<L>.warps) % its.across;
            float round[4] = {0, 0, 0, 0};
            NACELLE_UNROLL for (int step = 0; step < samples; step += 16) {
                uint32_t outputs[planes][4];
                load_slopes(outputs, step, n);
                NACELLE_UNROLL for (int p = planes - 1; p >= 0; --p) add_slopes(round, outputs[p]);
            }
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) bias[its.first_bias_unit + u][k] += round[k];
        }
        sum_planes<L, l + 1>(stage, warp, sum, bias);
    }
}

}
