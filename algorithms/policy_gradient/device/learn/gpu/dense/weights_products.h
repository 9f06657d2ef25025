#pragma once
#include <learn/gpu/dense/products.h>
// The gradient of a layer's weights and biases as a product of slopes and of what the layer saw, both turned.

namespace learn {

// The sums of A's 128 columns over all rows of the block's share: a bias's gradient. Sixteen threads share a column.
template <int planes> class ColumnSums {
public:
    NACELLE_INLINE void add(const unsigned char* stage) {
        NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t row = threadIdx.x / 16 * 4 + i, chunk = threadIdx.x % 16;
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                const auto eight = *reinterpret_cast<const Eight*>(
                    stage + uint32_t(p) * product_rows * 128 + chunk / 8 * 8192 +
                    2 * chunk_in_tile(row, chunk % 8));
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    sum_[2 * k] += low_half(eight.at[k]);
                    sum_[2 * k + 1] += high_half(eight.at[k]);
                }
            }
        }
    }
    // All of 256 threads come along and meet(); `meeting` has room for 16 rows of 128 floats. fn(column, sum)
    template <class Meet, class Fn>
    NACELLE_INLINE void finish(float* meeting, Meet&& meet, Fn&& fn) const {
        if (threadIdx.x < 256) {
            NACELLE_UNROLL for (int k = 0; k < 8; ++k)
                meeting[threadIdx.x / 16 * product_rows + threadIdx.x % 16 * 8 + uint32_t(k)] =
                    sum_[k];
        }
        meet();
        if (threadIdx.x >= product_rows) return;
        float all = 0;
        for (uint32_t i = 0; i < 16; ++i) all += meeting[i * product_rows + threadIdx.x];
        fn(threadIdx.x, all);
    }

private:
    struct alignas(16) Eight {
        uint32_t at[4];
    };
    float sum_[8] = {};
};

// What a part of the gradient comes to goes into its slot, or to what that has.
template <class Part, int quads>
NACELLE_INLINE void put_weights(const Products& all, const Part& part,
                                const float (&sum)[quads][4]) {
    const Product& p = *part.product;
    float* const slot = p.sums + size_t(part.split) * p.slot_floats;
    const bool adds = all.adds;
    each_pair(sum, part.row, part.column,
              [&](uint32_t row, uint32_t column, float left, float right) {
                  if (row >= p.m || column >= part.end_column(p.pitch)) return;
                  float* const to = slot + size_t(row) * p.pitch + column;
                  to[0] = adds ? to[0] + left : left;
                  to[1] = adds ? to[1] + right : right;
              });
}
NACELLE_INLINE void put_bias(const Products& all, const ProductPart& part, uint32_t column,
                             float sum) {
    const Product& p = *part.product;
    const uint32_t row = part.row * tile_side + column;
    if (row >= p.m) return;
    float* const to = p.sums + size_t(part.split) * p.slot_floats + size_t(p.m) * p.pitch + row;
    *to = all.adds ? *to + sum : sum;
}

// The gradient of a layer's weights and biases over a share of the rows: slopes, turned, times what was seen, turned.
template <int policy, int columns, class Part>
NACELLE_INLINE void weights_part(const Products& all, const Part& part) {
    constexpr int planes = Spec<policy>::planes;
    if (is_idle(all, 0)) return;
    const Product& p = *part.product;
    TileSum<planes, true, true, columns> tile(p, part.row, part.column, part.first_step(),
                                              part.end_step());
    ColumnSums<planes> biases;
    const bool first_column = part.column == 0;
    tile.run([&](const unsigned char* stage) {
        if (first_column) biases.add(stage);
    });
    put_weights(all, part, tile.sum);
    if (!first_column) return;
    biases.finish(
        reinterpret_cast<float*>(tile.stages()), [] { __syncthreads(); },
        [&](uint32_t column, float sum) { put_bias(all, part, column, sum); });
}
template <class E, int policy, int columns>
NACELLE_INLINE void weights_product(const View<E>&, const Products& all, Items items) {
    weights_part<policy, columns>(
        all, ProductPart(all, uint32_t(items.begin / product_threads), uint32_t(columns)));
}

}
