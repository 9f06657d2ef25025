#pragma once
#include <learn/gpu/dense/row_block.h>
// How four warps of a row pass go through the columns of a level that are theirs.

namespace learn {

// fn(quad, four pairs of two neighbouring quads) for all columns that a level has.
template <class Block, int n, class Fn>
NACELLE_INLINE void each_four(const float (&c)[8 * n][4], uint32_t first, uint32_t tiles, Fn&& fn) {
    NACELLE_UNROLL for (int q = 0; q < 8 * n; q += 2) {
        if (n > 2 && Block::has_columns(3, 3) && first + uint32_t(q) / 8 >= tiles) continue;
        float x[4][2];
        NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
            x[i][0] = c[q + i / 2][i % 2 * 2];
            x[i][1] = c[q + i / 2][i % 2 * 2 + 1];
        }
        fn(uint32_t(q), x);
    }
}
NACELLE_INLINE Two two_at(const float* from) {
#if LEARN_WGMMA
    Two both;
    asm("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(both.at[0]), "=f"(both.at[1]) : "l"(from));
    return both;
#else
    return *reinterpret_cast<const Two*>(from);
#endif
}
// Of a fourth tile that is none, too: other layers' biases lie behind.
template <int n>
NACELLE_INLINE void add_bias(float (&c)[8 * n][4], const RowPassLayer& layer, uint32_t first) {
    const float* const bias = layer.bias + first * tile_side + 2 * (threadIdx.x % 4);
    NACELLE_UNROLL for (int tile = 0; tile < n; ++tile) {
        Two more[8];
        NACELLE_UNROLL for (int q = 0; q < 8; ++q) more[q] = two_at(bias + 64 * tile + 8 * q);
        NACELLE_UNROLL for (int q = 0; q < 8; ++q) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) c[8 * tile + q][k] += more[q].at[k % 2];
        }
    }
}

}
