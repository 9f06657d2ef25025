#pragma once
#include <learn/gpu/recurrent/gate_values.h>
#include <learn/gpu/tile/tile_sum.h>
// The three products of a layer whose numbers go through memory: forward, back to its inputs, and to its weights. Each
// block finds its part of the launch's products, sums it and finishes it on the spot.

namespace learn {

// Which part of which product a block has. Blocks that read the same rows follow each other.
struct ProductPart {
    const Product* product;
    uint32_t row, column, split;    // the first tiles

    NACELLE_INLINE ProductPart(const Product* of, uint32_t its_row, uint32_t its_column,
                               uint32_t its_split)
        : product(of), row(its_row), column(its_column), split(its_split) {}
    NACELLE_INLINE ProductPart(const Products& all, uint32_t block, uint32_t columns,
                               uint32_t rows = product_rows) {
        product = all.of;
        for (uint32_t i = 1; i < all.count && block >= product[1].first_block; ++i) ++product;
        constexpr uint32_t together = 8;    // rows of blocks that go across together
        const uint32_t down = (product->m + rows - 1) / rows,
                       across = (product->n + columns - 1) / columns;
        uint32_t at = block - product->first_block;
        split = at / (down * across);
        at %= down * across;
        const uint32_t band = at / (together * across),
                       high = min(together, down - band * together);
        at -= band * together * across;
        row = (band * together + at % high) * (rows / tile_side);
        column = at / high * (columns / tile_side);
    }
    // Where its columns end among so many that lie in a row.
    NACELLE_INLINE uint32_t end_column(uint32_t pitch) const { return pitch; }
    // The steps of the sum that belong to its share of them.
    NACELLE_INLINE uint32_t first_step() const {
        return min(split * share(), tiles_along(product->k));
    }
    NACELLE_INLINE uint32_t end_step() const {
        return min(first_step() + share(), tiles_along(product->k));
    }

private:
    NACELLE_INLINE uint32_t share() const {
        return (tiles_along(product->k) + product->splits - 1) / product->splits;
    }
};

// Whether nothing is to be computed for a block's rows.
NACELLE_INLINE bool is_idle(const Products& all, uint32_t row_tile) {
    return (all.found && all.found[stopped] != 0) || !is_present(all.present, row_tile);
}

// A block's results as tiles in shared memory, on their way from or to a matrix.
template <int planes, int columns> struct TileImage {
    static constexpr uint32_t tiles_across = uint32_t(columns) / tile_side,
                              plane_bytes = product_rows * uint32_t(columns) * 2,
                              bytes = planes * plane_bytes;
    unsigned char* at;

    // What this lane says where of its 16 rows by 16 columns, from quad number `quad` on.
    NACELLE_INLINE unsigned char* place(int plane, int quad) const {
        const uint32_t row = threadIdx.x / 32 * 16 + threadIdx.x % 16,
                       chunk = uint32_t(quad) + threadIdx.x % 32 / 16;
        return at + uint32_t(plane) * plane_bytes +
               (row / tile_side * tiles_across + chunk / 8) * 8192 +
               2 * chunk_in_tile(row % tile_side, chunk % 8);
    }
    // fn(place in shared memory, place in the matrix) for every 16 bytes of the tiles that the matrix has.
    template <class Fn>
    NACELLE_INLINE void each_chunk(const TiledMatrix& matrix, uint32_t row, uint32_t column,
                                   Fn&& fn) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_ROLLED for (uint32_t tile = 0; tile < 2 * tiles_across; ++tile) {
                const uint32_t its_column = column + tile % tiles_across;
                if (its_column >= matrix.across) continue;
                unsigned char* const here = at + uint32_t(p) * plane_bytes + tile * 8192;
                uint16_t* const there =
                    matrix.at + size_t(p) * matrix.plane +
                    (size_t(row + tile / tiles_across) * matrix.across + its_column) * tile_numbers;
                for (uint32_t i = threadIdx.x; i < 512; i += product_threads)
                    fn(here + 16 * i, there + chunk_numbers * i);
            }
        }
    }
    NACELLE_INLINE void leave(const TiledMatrix& matrix, uint32_t row, uint32_t column) const {
        each_chunk(matrix, row, column, [](unsigned char* here, uint16_t* there) {
            *reinterpret_cast<Four*>(there) = *reinterpret_cast<const Four*>(here);
        });
    }
    NACELLE_INLINE void bring(const TiledMatrix& matrix, uint32_t row, uint32_t column) const {
        each_chunk(matrix, row, column,
                   [](unsigned char* here, uint16_t* there) { bring_async(here, there, true); });
        close_group();
        await_groups<0>();
    }
    // A line for each thread, so that memory has begun when the tiles are asked for.
    static NACELLE_INLINE void bring_near(const TiledMatrix& matrix, uint32_t row,
                                          uint32_t column) {
        constexpr uint32_t lines = tile_numbers / 64;    // of 128 bytes
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            for (uint32_t i = threadIdx.x; i < 2 * tiles_across * lines; i += product_threads) {
                const uint32_t tile = i / lines, its_column = column + tile % tiles_across;
                if (its_column < matrix.across)
                    learn::bring_near(
                        matrix.at + size_t(p) * matrix.plane +
                        (size_t(row + tile / tiles_across) * matrix.across + its_column) *
                            tile_numbers +
                        i % lines * 64);
            }
        }
    }
    // Four fragments' words of this lane, plane by plane.
    NACELLE_INLINE void put(int quad, const Planes<planes> (&pair)[4]) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint32_t words[4] = {pair[0].at[p], pair[1].at[p], pair[2].at[p], pair[3].at[p]};
            store_tiles(place(p, quad), words);
        }
    }
    NACELLE_INLINE void get(int quad, Planes<planes> (&pair)[4]) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            uint32_t words[4];
            load_tiles<false>(words, place(p, quad));
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) pair[i].at[p] = words[i];
        }
    }
};

// fn(row, column, sums of two neighbouring columns) for all that this thread has.
template <int quads, class Fn>
NACELLE_INLINE void each_pair(const float (&sum)[quads][4], uint32_t row, uint32_t column,
                              Fn&& fn) {
    if (threadIdx.x >= 256) return;
    const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4,
                   first = row * tile_side + threadIdx.x / 32 * 16 + g;
    NACELLE_UNROLL for (int q = 0; q < quads; ++q) {
        const uint32_t at = column * tile_side + 8 * uint32_t(q) + 2 * t;
        fn(first, at, sum[q][0], sum[q][1]);
        fn(first + 8, at, sum[q][2], sum[q][3]);
    }
}

// Sums as they are: of a last layer or of gates, with their biases, or of what comes back to what was remembered.
template <class Part, int quads>
NACELLE_INLINE void put_sums(const Part& part, const float (&sum)[quads][4], bool biased) {
    const Product& p = *part.product;
    each_pair(sum, part.row, part.column,
              [&](uint32_t row, uint32_t column, float first, float second) {
                  if (row >= p.m || column >= part.end_column(p.pitch)) return;
                  float* const to = p.sums + size_t(row) * p.pitch + column;
                  to[0] = biased ? first + p.bias[column] : first;
                  to[1] = biased ? second + p.bias[column + 1] : second;
              });
}

// Rows through a layer: its weights' rows are the other factor.
template <int policy, int columns, class Part>
NACELLE_INLINE void forward_part(const Products& all, const Part& part) {
    constexpr int planes = Spec<policy>::planes;
    constexpr Activation f = Spec<policy>::activation;
    if (is_idle(all, part.row)) return;
    const Product& p = *part.product;
    TileSum<planes, false, false, columns> tile(p, part.row, part.column, 0, tiles_along(p.k));
    tile.run([](const unsigned char*) {});
    if (p.sums) return put_sums(part, tile.sum, true);
    using Image = TileImage<planes, columns>;
    const Image image{tile.stages()}, inputs{tile.stages() + Image::bytes};
    if constexpr (has_memory<policy> && planes == 1) {
        if (p.gated) {
            leave_gates<f>(image, tile.sum, p, part.column);
            __syncthreads();
            image.leave(p.out, part.row, part.column);
            return;
        }
    }
    if (threadIdx.x < 256) {
        const float* const bias = p.bias + part.column * tile_side + 2 * (threadIdx.x % 4);
        NACELLE_UNROLL for (int q = 0; q < columns / 8; q += 2) {
            Planes<planes> bent[4], straight[4];
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                const int quad = q + i / 2, k = i % 2 * 2;
                const bool there = (part.column + uint32_t(quad) / 8) < p.out.across;
                const Two more = there ? *reinterpret_cast<const Two*>(bias + 8 * quad) : Two{};
                const float x = tile.sum[quad][k] + more.at[0],
                            y = tile.sum[quad][k + 1] + more.at[1];
                bent[i] = activated_pair<f, planes>(x, y);
                straight[i] = planes_of<planes>(x, y);
            }
            image.put(q, bent);
            if constexpr (Curve<f>::needs_input) inputs.put(q, straight);
        }
    }
    __syncthreads();
    image.leave(p.out, part.row, part.column);
    if constexpr (Curve<f>::needs_input) {
        if (p.kept.at) inputs.leave(p.kept, part.row, part.column);
    }
}
template <class E, int policy, int columns>
NACELLE_INLINE void forward_product(const View<E>&, const Products& all, Items items) {
    forward_part<policy, columns>(
        all, ProductPart(all, uint32_t(items.begin / product_threads), uint32_t(columns)));
}

// Slopes along a layer's outputs become those along what went into the activation before it: use(their image).
template <int policy, int columns, class Use>
NACELLE_INLINE void slopes_of_part(const ProductPart& part, Use&& use) {
    constexpr int planes = Spec<policy>::planes;
    using C = Curve<Spec<policy>::activation>;
    const Product& p = *part.product;
    if (p.kept.at) TileImage<planes, columns>::bring_near(p.kept, part.row, part.column);
    TileSum<planes, false, true, columns> tile(p, part.row, part.column, 0, tiles_along(p.k));
    tile.run([](const unsigned char*) {});
    if (p.sums) return put_sums(part, tile.sum, false);
    const TileImage<planes, columns> image{tile.stages()};
    const bool bends = p.kept.at != nullptr;    // else the inputs come from a layer that remembers
    if (bends) image.bring(p.kept, part.row, part.column);
    __syncthreads();
    if (threadIdx.x < 256) {
        NACELLE_UNROLL for (int q = 0; q < columns / 8; q += 2) {
            Planes<planes> kept[4], slope[4];
            if (bends) image.get(q, kept);
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                const float low = bends ? kept[i].low() : 0, high = bends ? kept[i].high() : 0;
                const float by_low = bends ? C::slope(low, low) : 1,
                            by_high = bends ? C::slope(high, high) : 1;
                slope[i] = planes_of<planes>(tile.sum[q + i / 2][i % 2 * 2] * by_low,
                                             tile.sum[q + i / 2][i % 2 * 2 + 1] * by_high);
            }
            image.put(q, slope);
        }
    }
    __syncthreads();
    use(image);
}
template <int policy, int columns, class Part>
NACELLE_INLINE void backward_part(const Products& all, const Part& part) {
    if (is_idle(all, part.row)) return;
    slopes_of_part<policy, columns>(
        part, [&](const auto& image) { image.leave(part.product->out, part.row, part.column); });
}
template <class E, int policy, int columns>
NACELLE_INLINE void backward_product(const View<E>&, const Products& all, Items items) {
    backward_part<policy, columns>(
        all, ProductPart(all, uint32_t(items.begin / product_threads), uint32_t(columns)));
}

}
