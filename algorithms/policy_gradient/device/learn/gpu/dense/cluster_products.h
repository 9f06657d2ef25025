#pragma once
#include <learn/gpu/dense/weights_products.h>
#include <learn/gpu/tile/cluster_sum.h>
// The three products of a layer by clusters of blocks. Elsewhere than on Hopper a block goes through its parts as
// others do, 128 columns at a time.

namespace learn {

#if LEARN_WGMMA
// This lane's numbers of 64 columns of its warp's rows, four words for 16 rows by 16 columns.
template <int planes> struct ChunkWords {
    Planes<planes> at[4][4];

    NACELLE_INLINE void send(TileSender& sender, const TiledMatrix& to, uint32_t row,
                             uint32_t column) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) sender.send(
            to.at + size_t(p) * to.plane + (size_t(row) * to.across + column) * tile_numbers,
            [&](int quad, uint32_t(&four)[4]) {
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) four[i] = at[quad / 2][i].at[p];
            });
    }
};
// Whether the matrix has this group's rows of a part.
NACELLE_INLINE bool has_group(const ProductPart& part) {
    return part.row + TileSender::group() < 2 * blocks_down(part.product->m);
}

template <int policy> class ForwardTask {
public:
    static constexpr int planes = Spec<policy>::planes,
                         chunks = int(cluster_columns(planes) / tile_side);
    static constexpr Activation f = Spec<policy>::activation;

    NACELLE_INLINE explicit ForwardTask(uint32_t slots) : sender_(slots) {}
    NACELLE_INLINE void begin(const ProductPart&) {}
    NACELLE_INLINE void see(const unsigned char*) {}
    template <class Part> NACELLE_INLINE void look_ahead(const Part& part) {
        if (!part.product->sums) look_at(part, 0, ahead_);
    }
    template <class Part>
    NACELLE_INLINE void finish(const Part& part, const float (&sum)[8 * chunks][4]) {
        const Product& p = *part.product;
        if (p.sums) return put_sums(part, sum, true);
        if (!has_group(part)) return;
        const uint32_t row = part.row + TileSender::group();
        NACELLE_UNROLL for (int c = 0; c < chunks; ++c) {
            Two bias[8];
            NACELLE_UNROLL for (int q = 0; q < 8; ++q) bias[q] = ahead_[q];
            if (c + 1 < chunks) look_at(part, uint32_t(c + 1), ahead_);
            if (!part.has(uint32_t(c), p.out.across)) continue;
            const uint32_t column = part.column + uint32_t(c),
                           at = column * tile_side + 2 * (threadIdx.x % 4);
            ChunkWords<planes> bent, straight;
            NACELLE_UNROLL for (int q = 0; q < 8; ++q) {
                NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
                    const float x = sum[8 * c + q][2 * i] + bias[q].at[0],
                                y = sum[8 * c + q][2 * i + 1] + bias[q].at[1];
                    bent.at[q / 2][q % 2 * 2 + i] = bent_pair(p, at + 8 * uint32_t(q), x, y);
                    if constexpr (Curve<f>::needs_input)
                        straight.at[q / 2][q % 2 * 2 + i] = planes_of<planes>(x, y);
                }
            }
            bent.send(sender_, p.out, row, column);
            if constexpr (Curve<f>::needs_input) {
                if (p.kept.at) straight.send(sender_, p.kept, row, column);
            }
        }
    }
    NACELLE_INLINE void end() const { sender_.finish(); }

private:
    // What the activation makes of two sums, or the gates that they are, from a column on.
    static NACELLE_INLINE Planes<planes> bent_pair(const Product& p, uint32_t column, float x,
                                                   float y) {
        if constexpr (has_memory<policy> && planes == 1) {
            if (p.gated)
                return {{pair_of(gate_value<f>(x, column, p.gated),
                                 gate_value<f>(y, column + 1, p.gated))}};
        }
        return activated_pair<f, planes>(x, y);
    }
    template <class Part>
    static NACELLE_INLINE void look_at(const Part& part, uint32_t chunk, Two (&bias)[8]) {
        const uint32_t column = part.column + chunk;
        const bool there = part.has(chunk, part.product->out.across);
        const float* const from = part.product->bias + column * tile_side + 2 * (threadIdx.x % 4);
        NACELLE_UNROLL for (uint32_t q = 0; q < 8; ++q) bias[q] =
            there ? *reinterpret_cast<const Two*>(from + 8 * q) : Two{};
    }

    TileSender sender_;
    Two ahead_[8];
};

template <int policy> class BackwardTask {
public:
    static constexpr int planes = Spec<policy>::planes,
                         chunks = int(cluster_columns(planes) / tile_side);
    using C = Curve<Spec<policy>::activation>;

    NACELLE_INLINE explicit BackwardTask(uint32_t slots) : sender_(slots) {}
    // What is kept comes near while the sums are made.
    template <class Part> NACELLE_INLINE void begin(const Part& part) {
        const TiledMatrix& kept = part.product->kept;
        if (!kept.at || !has_group(part)) return;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (uint32_t i = 0; i < uint32_t(chunks) / 2; ++i) {
                const uint32_t chunk = 2 * i + threadIdx.x % 128 / 64;
                if (part.has(chunk, kept.across))
                    bring_near(tile(kept, p, part, chunk) + threadIdx.x % 64 * tile_side);
            }
        }
    }
    NACELLE_INLINE void see(const unsigned char*) {}
    template <class Part> NACELLE_INLINE void look_ahead(const Part& part) {
        if (!part.product->sums) look_at(part, 0);
    }
    template <class Part>
    NACELLE_INLINE void finish(const Part& part, const float (&sum)[8 * chunks][4]) {
        const Product& p = *part.product;
        if (p.sums) return put_sums(part, sum, false);
        if (!has_group(part)) return;
        NACELLE_UNROLL for (int c = 0; c < chunks; ++c) {
            const ChunkWords<planes> slope = slopes_of(part, sum, c);
            if (part.has(uint32_t(c), p.out.across))
                slope.send(sender_, p.out, part.row + TileSender::group(),
                           part.column + uint32_t(c));
        }
    }
    NACELLE_INLINE void end() const { sender_.finish(); }

protected:
    // Of a chunk of the columns; what the next one needs is asked for.
    template <class Part>
    NACELLE_INLINE ChunkWords<planes> slopes_of(const Part& part, const float (&sum)[8 * chunks][4],
                                                int c) {
        const bool bends = part.product->kept.at != nullptr;
        ChunkWords<planes> slope;
        NACELLE_UNROLL for (int q = 0; q < 8; ++q) {
            NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
                const float low = ahead_[q][i].low(), high = ahead_[q][i].high(),
                            by_low = bends ? C::slope(low, low) : 1,
                            by_high = bends ? C::slope(high, high) : 1;
                slope.at[q / 2][q % 2 * 2 + i] = planes_of<planes>(
                    sum[8 * c + q][2 * i] * by_low, sum[8 * c + q][2 * i + 1] * by_high);
            }
        }
        if (c + 1 < chunks) look_at(part, uint32_t(c + 1));
        return slope;
    }
    // This lane's numbers of 64 columns of what is kept.
    template <class Part> NACELLE_INLINE void look_at(const Part& part, uint32_t chunk) {
        const TiledMatrix& kept = part.product->kept;
        const uint32_t g = threadIdx.x % 32 / 4, row = threadIdx.x % 128 / 32 * 16 + g;
        const bool there = kept.at && has_group(part) && part.has(chunk, kept.across);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const from =
                tile(kept, p, part, chunk) + row * tile_side + 2 * (threadIdx.x % 4);
            NACELLE_UNROLL for (uint32_t q = 0; q < 8; ++q) {
                NACELLE_UNROLL for (uint32_t i = 0; i < 2; ++i) ahead_[q][i].at[p] =
                    there ? *reinterpret_cast<const uint32_t*>(from + 8 * i * tile_side +
                                                               (q ^ g) * chunk_numbers)
                          : 0;
            }
        }
    }

private:
    static NACELLE_INLINE const uint16_t* tile(const TiledMatrix& kept, int plane,
                                               const ProductPart& part, uint32_t chunk) {
        return kept.at + size_t(plane) * kept.plane +
               (size_t(part.row + TileSender::group()) * kept.across + part.column + chunk) *
                   tile_numbers;
    }

    TileSender sender_;
    Planes<planes> ahead_[8][2];
};

template <int policy> class WeightsTask {
public:
    static constexpr int planes = Spec<policy>::planes, quads = int(cluster_columns(planes) / 8);

    NACELLE_INLINE WeightsTask(const Products& all, float* meeting)
        : all_(all), meeting_(meeting) {}
    template <class Part> NACELLE_INLINE void begin(const Part& part) {
        first_column_ = part.column == 0;
        biases_ = {};
    }
    NACELLE_INLINE void see(const unsigned char* stage) {
        if (first_column_) biases_.add(stage);
    }
    NACELLE_INLINE void look_ahead(const ProductPart&) {}
    template <class Part>
    NACELLE_INLINE void finish(const Part& part, const float (&sum)[quads][4]) {
        put_weights(all_, part, sum);
        if (!first_column_) return;
        biases_.finish(
            meeting_, [] { meet_at(2, 256); },
            [&](uint32_t column, float one) { put_bias(all_, part, column, one); });
        meet_at(2, 256);    // before others write there
    }
    NACELLE_INLINE void end() const {}

private:
    const Products& all_;
    float* meeting_;
    ColumnSums<planes> biases_;
    bool first_column_ = false;
};
#else
// fn(part) for 128 columns of each part of a cluster's block.
template <class Part, class Fn>
NACELLE_INLINE void each_narrow_part(const Products& all, Items items, Fn&& fn) {
    const uint32_t block = uint32_t(items.begin / cluster_threads(false));
    for (uint32_t i = block / cluster_blocks; i < all.parts; i += all.clusters) {
        Part part = cluster_part<Part>(all, i, block % cluster_blocks);
        if (part.row >= tiles_along(part.product->m)) continue;
        // Two tiles at a time; one that is another part's comes out the same there.
        const uint32_t end = part.end_tile();
        for (uint32_t column = part.column; column < end; column += 2) {
            part.column = column;
            part.tiles = min(2u, end - column);
            fn(part);
            __syncthreads();
        }
    }
}
#endif

template <class E, int policy>
NACELLE_INLINE void forward_clusters(const View<E>&, const Products& all, Items items) {
    using Part = PartOf<E, policy>;
#if LEARN_WGMMA
    ClusterSum<Part, false, false> sum;
    ForwardTask<policy> task(shared_address(sum.results()));
    sum.run(all, uint32_t(items.begin / cluster_threads(true)), task);
#else
    each_narrow_part<Part>(all, items,
                           [&](const Part& part) { forward_part<policy, 128>(all, part); });
#endif
}
template <class E, int policy>
NACELLE_INLINE void backward_clusters(const View<E>&, const Products& all, Items items) {
    using Part = PartOf<E, policy>;
#if LEARN_WGMMA
    ClusterSum<Part, false, true> sum;
    BackwardTask<policy> task(shared_address(sum.results()));
    sum.run(all, uint32_t(items.begin / cluster_threads(true)), task);
#else
    each_narrow_part<Part>(all, items,
                           [&](const Part& part) { backward_part<policy, 128>(all, part); });
#endif
}
template <class E, int policy>
NACELLE_INLINE void weights_clusters(const View<E>&, const Products& all, Items items) {
    using Part = PartOf<E, policy>;
#if LEARN_WGMMA
    ClusterSum<Part, true, true> sum;
    WeightsTask<policy> task(all, reinterpret_cast<float*>(sum.results()));
    sum.run(all, uint32_t(items.begin / cluster_threads(true)), task);
#else
    each_narrow_part<Part>(all, items,
                           [&](const Part& part) { weights_part<policy, 128>(all, part); });
#endif
}

}
