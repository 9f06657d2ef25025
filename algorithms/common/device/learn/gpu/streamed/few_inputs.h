#pragma once
#include <learn/gpu/streamed/hopper.h>
// The gradient of a layer that sees few numbers, out of slopes that lie in shared memory: 64 rows by 64 columns at a
// time, which four warps share by columns. Numbers are the rows of a product's first factor and samples its steps; behind
// the last number each sample has a one, whose row of the product is the biases' gradient.

namespace learn {

// What 64 rows have of these numbers, turned: rows 8 i + 2 t and the next one of number g.
struct FewInputs {
    uint32_t at[8];

    NACELLE_INLINE void look_at(const uint16_t* tile, uint32_t count) {
        const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        NACELLE_UNROLL for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t row = 8 * i + 2 * t;
            at[i] = g < count ? uint32_t(tile[chunk_in_tile(row, 0) + g]) |
                                    uint32_t(tile[chunk_in_tile(row + 1, 0) + g]) << 16
                    : g == count ? 0x3f803f80u
                                 : 0u;
        }
    }
};

// Of so many tiles beside each other a warp has 16 columns each: number g, columns 2 t and 2 t + 1 of two quads.
template <int tiles> class FewInputsGradient {
public:
    NACELLE_INLINE FewInputsGradient() {
        NACELLE_UNROLL for (int c = 0; c < tiles; ++c) {
            NACELLE_UNROLL for (int q = 0; q < 2; ++q) sum_[c][q][0] = sum_[c][q][1] = 0;
        }
    }
    // All of the four warps' slopes are there: load(words, place in their tile) has four tiles of 8 by 8, turned.
    template <class Load> NACELLE_INLINE void add(int c, const FewInputs& inputs, Load&& load) {
        const uint32_t lane = threadIdx.x % 32, chunk = threadIdx.x / 32 % 4 * 2 + lane / 16;
        float sum[2][4] = {{sum_[c][0][0], sum_[c][0][1], 0, 0},
                           {sum_[c][1][0], sum_[c][1][1], 0, 0}};
        NACELLE_UNROLL for (uint32_t step = 0; step < 4; ++step) {
            uint32_t right[4];
            load(right, 2 * chunk_in_tile(16 * step + lane % 16, chunk));
            const uint32_t left[4] = {inputs.at[2 * step], 0, inputs.at[2 * step + 1], 0};
            multiply(sum[0], left, right[0], right[1]);
            multiply(sum[1], left, right[2], right[3]);
        }
        NACELLE_UNROLL for (int q = 0; q < 2; ++q) {
            sum_[c][q][0] = sum[q][0];
            sum_[c][q][1] = sum[q][1];
        }
    }
    // To a slot of such a layer's sums, or to what that has, from a tile of its outputs on.
    NACELLE_INLINE void store(float* slot, uint32_t first, uint32_t count, uint32_t outputs,
                              uint32_t pitch, bool adds) const {
        const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        if (g > count) return;
        NACELLE_UNROLL for (uint32_t c = 0; c < uint32_t(tiles); ++c) {
            NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
                const uint32_t output =
                    (first + c) * tile_side + threadIdx.x / 32 % 4 * 16 + i / 2 * 8 + 2 * t + i % 2;
                if (output >= outputs) continue;
                float* const to =
                    slot + (g < count ? output * pitch + g : outputs * pitch + output);
                *to = adds ? *to + sum_[c][i / 2][i % 2] : sum_[c][i / 2][i % 2];
            }
        }
    }

private:
    float sum_[tiles][2][2];
};

}
