#pragma once
#include <learn/gpu/warp_update.h>
// What a wide network leaves of its samples in memory: rows of pairs at each level, read and written by a warp
// for 16 samples. A lane's words of two neighbouring tiles lie side by side there, so that a quad of lanes moves
// 64 bytes of a row at once: the columns of a level are in another order, which the sums' end puts right.

namespace learn {

// Which column lies at a place of a level that has so many tiles. Lane t of a quad has words t, t + 4, t + 8
// and t + 12 of two tiles at 4 t, and of a last one alone words t and t + 4 at 2 t. Behind the last tile is nothing.
constexpr int column_at(int place, int tiles) {
    if (place >= 16 * tiles) return place;
    const int in = place & 31, first = place - in;
    const bool both = first / 16 + 1 < tiles;
    const int lane = in >> (both ? 3 : 2), word = in >> 1 & (both ? 3 : 1);
    return first + 8 * word + 2 * lane + in % 2;
}

// A number that is always zero, which a compiler for GPUs does not know.
#if defined(__CUDACC_RTC__)
NACELLE_INLINE uint32_t hidden_zero() { return blockIdx.y; }
#else
NACELLE_INLINE uint32_t hidden_zero() { return 0; }
#endif

template <int count> struct alignas(4 * count) SideBySide { uint32_t at[count]; };
// One or two tiles from tile number `first`, an even one, on; `words` from row to row. Products want a tile's words
// in neighbouring registers, and memory other ones: `zero`, a hidden one, makes copies of them. Else a compiler
// keeps memory's order and moves four words before every product.
template <int tiles>
NACELLE_INLINE void leave_wide(uint32_t* rows, int words, int first, const uint32_t (*tile)[4],
                               uint32_t zero = 0) {
    uint32_t* const to = rows + warp_lane() / 4 * words + 8 * first + 2 * tiles * (warp_lane() % 4);
    NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
        SideBySide<2 * tiles> mine;
        NACELLE_UNROLL for (int k = 0; k < 2 * tiles; ++k) mine.at[k] =
            tile[k / 2][k % 2 * 2 + half] ^ zero;
        *reinterpret_cast<SideBySide<2 * tiles>*>(to + 8 * half * words) = mine;
    }
}
template <int tiles>
NACELLE_INLINE void take_wide(uint32_t (*tile)[4], const uint32_t* rows, int words, int first) {
    const uint32_t* const from =
        rows + warp_lane() / 4 * words + 8 * first + 2 * tiles * (warp_lane() % 4);
    NACELLE_UNROLL for (int half = 0; half < 2; ++half) {
        const auto mine = *reinterpret_cast<const SideBySide<2 * tiles>*>(from + 8 * half * words);
        NACELLE_UNROLL for (int k = 0; k < 2 * tiles; ++k) tile[k / 2][k % 2 * 2 + half] =
            mine.at[k];
    }
}
// fn.operator()<tiles>(first) for a level's tiles in twos and, where their number is odd, the last one.
template <int all, class Fn> NACELLE_INLINE void in_twos(Fn&& fn) {
    NACELLE_UNROLL for (int first = 0; first + 1 < all; first += 2)
        fn.template operator()<2>(first);
    if constexpr (all % 2) fn.template operator()<1>(all - 1);
}
// The same in a loop.
template <int all, class Fn> NACELLE_INLINE void roll_twos(Fn&& fn) {
    NACELLE_ROLLED for (int first = 0; first + 1 < all; first += 2)
        fn.template operator()<2>(first);
    if constexpr (all % 2) fn.template operator()<1>(all - 1);
}
template <int tiles>
NACELLE_INLINE void leave_level(uint32_t* rows, const uint32_t (*tile)[4], uint32_t zero = 0) {
    in_twos<tiles>(
        [&]<int some>(int first) { leave_wide<some>(rows, 8 * tiles, first, tile + first, zero); });
}
template <int tiles> NACELLE_INLINE void take_level(uint32_t (*tile)[4], const uint32_t* rows) {
    in_twos<tiles>(
        [&]<int some>(int first) { take_wide<some>(tile + first, rows, 8 * tiles, first); });
}

// The rows of observations at `at` into shared memory, lane i's being row i; zeros where `at` is `nowhere`. All
// lanes read each row together, several rows before the first one is used.
inline constexpr size_t nowhere = ~size_t(0);
template <int width>
NACELLE_INLINE void gather_rows(uint32_t* rows, int pitch, size_t at, const Memory& memory) {
    constexpr int padded_width = tiles_of(width, 16) * 16;
    auto* const halves = reinterpret_cast<uint16_t*>(rows);
    const uint32_t rows_there = __ballot_sync(~0u, at != nowhere);
    constexpr int steps = tiles_of(width, 32), together = steps <= 3 ? steps : 2;
    NACELLE_ROLLED for (int start = 0; start < width; start += 32 * together) {
        float seen[together][warp_rows], mean[together], scale[together];
        int column[together];
        NACELLE_UNROLL for (int k = 0; k < together; ++k) {
            column[k] = start + 32 * k + warp_lane();
            mean[k] = column[k] < width ? memory.mean[column[k]] : 0;
            scale[k] = column[k] < width ? memory.scale[column[k]] : 0;
        }
        NACELLE_UNROLL for (int row = 0; row < warp_rows; ++row) {
            const size_t place = __shfl_sync(~0u, at, row);
            NACELLE_UNROLL for (int k = 0; k < together; ++k) seen[k][row] =
                column[k] < width && (rows_there >> row & 1)
                    ? memory.obs[place * size_t(width) + size_t(column[k])]
                    : mean[k];
        }
        NACELLE_UNROLL for (int row = 0; row < warp_rows; ++row) {
            NACELLE_UNROLL for (int k = 0; k < together; ++k) {
                if (column[k] < padded_width)
                    halves[2 * row * pitch + column[k]] =
                        uint16_t(pair_of(normal_of(seen[k][row], mean[k], scale[k]), 0));
            }
        }
    }
}

}
