#pragma once
#include <learn/layout/row_pass.h>
// Which part of a level a warpgroup of a row pass has: 64 of a block's rows and all columns, or half of the columns where
// both groups have the same rows.

namespace learn {

template <class L> struct RowColumns {
    static constexpr RowPassLayout layout{L::width, L::count, L::planes};
    static constexpr int hidden = L::count - 1;
    static constexpr uint32_t down = layout.rows / tile_side, across = 2 / down;

    // Of 16 steps of a product's sum over so many numbers, those of a tile that is the only one.
    static constexpr uint32_t steps_along(int width) {
        return width < int(tile_side) ? uint32_t(width + 15) / 16 : 4;
    }
    // Which of the block's rows and of a level's columns this warpgroup has.
    static NACELLE_INLINE uint32_t group_down() { return down == 1 ? 0 : threadIdx.x / 128; }
    static NACELLE_INLINE uint32_t group_across() { return across == 1 ? 0 : threadIdx.x / 128; }
    static NACELLE_INLINE uint32_t in_rows() { return threadIdx.x % (128 * across); }
    static NACELLE_INLINE uint32_t own_first(uint32_t tiles) {
        return group_across() * ((tiles + across - 1) / across);
    }
    static NACELLE_INLINE uint32_t own_count(uint32_t tiles) {
        const uint32_t share = (tiles + across - 1) / across;
        return min(share, tiles - min(tiles, own_first(tiles)));
    }
    // Whether a warpgroup may have none of a hidden level's columns.
    static constexpr bool may_rest() {
        for (int l = 1; l <= hidden; ++l)
            if (across > 1 && L::width[l] <= int(tile_side)) return true;
        return false;
    }
    // Whether a warpgroup has so many of the columns of some hidden level.
    static constexpr bool has_columns(uint32_t least, uint32_t most) {
        for (int l = 1; l <= hidden; ++l) {
            const uint32_t tiles = tiles_along(uint64_t(L::width[l])),
                           share = (tiles + across - 1) / across;
            const uint32_t rest = tiles - (across - 1) * share;
            if ((share >= least && share <= most) || (rest >= least && rest <= most)) return true;
        }
        return false;
    }
    // fn.template operator()<n>() for products of 64 n columns. Three tiles are computed as four.
    template <class Fn> static NACELLE_INLINE void with_columns(uint32_t tiles, Fn&& fn) {
        constexpr bool one = has_columns(1, 1), two = has_columns(2, 2), more = has_columns(3, 4);
        if constexpr (more) {
            if ((!one && !two) || tiles > 2) return fn.template operator()<4>();
        }
        if constexpr (two) {
            if (!one || tiles == 2) return fn.template operator()<2>();
        }
        if constexpr (one) fn.template operator()<1>();
    }
};

}
