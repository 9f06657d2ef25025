#pragma once
#include <learn/gpu/tile/tensor.h>
#include <learn/layout/blocked.h>

namespace learn {

// A number of a matrix in tiles, where its neighbour in the word belongs to something else.
template <int planes>
NACELLE_INLINE void put_one(const TiledMatrix& to, uint32_t row, uint32_t column, float value) {
    const auto pair = planes_of<planes>(value, 0.0f);
    NACELLE_UNROLL for (int p = 0; p < planes; ++p)
        to.at[size_t(p) * to.plane + place_in_tiles(row, column, to.across)] = uint16_t(pair.at[p]);
}

}
