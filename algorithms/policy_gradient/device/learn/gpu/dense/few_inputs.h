#pragma once
#include <learn/gpu/tile/hopper.h>
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
    // The same of a tile in shared memory, with nothing behind its numbers.
    NACELLE_INLINE void read(const unsigned char* tile) {
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
            uint32_t four[4];
            load_tiles<true>(four, tile + 2 * chunk_in_tile(32 * half + threadIdx.x % 32, 0));
            NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) at[4 * half + i] = four[i];
        }
    }
    // The sum of number g.
    NACELLE_INLINE float total() const {
        float sum[4] = {};
        NACELLE_UNROLL for (uint32_t step = 0; step < 4; ++step) {
            const uint32_t left[4] = {at[2 * step], 0, at[2 * step + 1], 0};
            multiply(sum, left, 0x3f803f80u, 0x3f803f80u);
        }
        return sum[0];
    }
};
// Where the sums of a lane's number lie: that of column 0, numbers from one column to the next, and how many columns
// there are, or none.
struct FewInputsPlace {
    float* at;
    uint32_t apart, end;

    static NACELLE_INLINE FewInputsPlace of_first(float* slot, uint32_t inputs, uint32_t outputs,
                                                  uint32_t pitch) {
        const uint32_t g = threadIdx.x % 32 / 4;
        return {slot + (g < inputs ? g : outputs * pitch), g < inputs ? pitch : 1,
                g <= inputs ? outputs : 0};
    }
    static NACELLE_INLINE FewInputsPlace of_last(float* slot, uint32_t outputs, uint32_t inputs,
                                                 uint32_t pitch) {
        const uint32_t g = threadIdx.x % 32 / 4;
        return {slot + g * pitch, 1, g < outputs ? inputs : 0};
    }
};

// Of so many tiles beside each other a warp has 16 columns each: number g, columns 2 t and 2 t + 1 of two quads.
template <int tiles> class FewInputsGradient {
public:
    static constexpr int count = tiles;

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
    // On top of what a slot has, and to there, from a column on; `whole` where there are all columns of all tiles.
    template <bool whole = false> NACELLE_INLINE void begin_at(const FewInputsPlace& place) {
        each_sum<whole>(place, 0, [](const float* from, float& sum) { sum = *from; });
    }
    template <bool whole = false>
    NACELLE_INLINE void store(const FewInputsPlace& place, uint32_t first = 0, bool adds = false) {
        each_sum<whole>(place, first,
                        [&](float* to, const float& sum) { *to = adds ? *to + sum : sum; });
    }

private:
    template <bool whole, class Fn>
    NACELLE_INLINE void each_sum(const FewInputsPlace& place, uint32_t first, Fn&& fn) {
        const uint32_t own = first + threadIdx.x / 32 % 4 * 16 + 2 * (threadIdx.x % 4);
        if (own >= place.end) return;
        NACELLE_UNROLL for (uint32_t c = 0; c < uint32_t(tiles); ++c) {
            NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
                const uint32_t column = own + c * tile_side + i / 2 * 8 + i % 2;
                if (whole || column < place.end)
                    fn(place.at + column * place.apart, sum_[c][i / 2][i % 2]);
            }
        }
    }

    float sum_[tiles][2][2];
};

}
