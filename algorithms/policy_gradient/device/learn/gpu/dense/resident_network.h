#pragma once
#include <learn/gpu/dense/weight_stream.h>
// A network that lives in a block's shared memory: its weights are brought there once, or over and over where they have
// no room, and the block's rows go through all layers as often as they are asked to. Each warp computes some columns of a layer for all rows. Sums come in the
// order of a product of its own (tile_sum.h), so that both leave the same numbers.

namespace learn {

template <class Block> class ResidentNetwork {
    using L = typename Block::L;
    using Stream = WeightStream<Block>;
    template <int l> using Shares = WarpShares<Block, l>;
    static constexpr ResidentLayout<> all = Block::layout;
    static constexpr int planes = L::planes, stages = Block::stages;
    // Several planes: after so many tiles of 16 the sums are added to floats, since the cores cut them off.
    static constexpr int tiles_together = 16;

public:
    // All threads of the block come along, here and to what follows. The weights are on their way then.
    NACELLE_INLINE ResidentNetwork(const float* prepared, uint32_t* memory)
        : memory_(memory), stream_(prepared, memory_) {
        bring<0>(prepared);
        close_group();
    }
    // Once, before the first forward().
    NACELLE_INLINE void await() {
        await_groups<0>();
        if constexpr (stages > 0) stream_.begin();
    }
    static constexpr int pairs = all.layer[0].in / 2;

    // Two numbers of a row, as the network is to see them; of each row all pairs, also those behind its last number.
    NACELLE_INLINE void put(int row, int pair, float first, float second) const {
        uint32_t* const to = memory_ + all.layer[0].seen + row * all.layer[0].seen_pitch + pair;
        const Planes<planes> two = planes_of<planes>(first, second);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) to[p * pairs] = two.at[p];
    }
    // The same of one plane.
    NACELLE_INLINE void put_pair(int row, int pair, uint32_t two) const {
        static_assert(planes == 1);
        memory_[all.layer[0].seen + row * all.layer[0].seen_pitch + pair] = two;
    }
    NACELLE_INLINE const float* outputs(int row) const {
        return reinterpret_cast<const float*>(memory_) + all.outputs + row * all.output_pitch;
    }
    NACELLE_INLINE void forward() {
        __syncthreads();
        layers();
    }
    // By other weights of the same form from now on, of a network that brings them over and over.
    NACELLE_INLINE void change_to(const float* prepared) requires(stages > 0) {
        bring<0>(prepared);    // biases alone
        stream_.begin_with(prepared);
    }
    // Where the threads have met since the inputs were put.
    NACELLE_INLINE void layers() { forward_from<0>(); }

private:
    template <int l> NACELLE_INLINE void bring(const float* prepared) {
        constexpr ResidentLayer<int> its = all.layer[l];
        constexpr int chunks = its.in / int(chunk_numbers);
        constexpr uint64_t start = tiled_weights_before(L::matrix, l, planes),
                           plane = tiled_numbers(L::matrix[l]),
                           biases = tiled_weights_before(L::matrix, L::matrices, planes) / 2 +
                                    tiled_biases_before(L::matrix, l);
        const auto* const from = reinterpret_cast<const uint16_t*>(prepared) + start;
        NACELLE_UNROLL for (int p = 0; p < (stages > 0 ? 0 : planes); ++p) {
            NACELLE_ROLLED for (int i = int(threadIdx.x); i < its.out * chunks;
                                i += Block::threads) {
                const int row = i / chunks, chunk = i % chunks;
                bring_async(memory_ + its.weights + p * its.plane + row * its.pitch + 4 * chunk,
                            from + uint64_t(p) * plane +
                                place_in_tiles(uint64_t(row), uint32_t(chunk) * chunk_numbers,
                                               tiles_along(uint64_t(L::matrix[l].in))),
                            true);
            }
        }
        for (int i = int(threadIdx.x); i < its.out; i += Block::threads)
            reinterpret_cast<float*>(memory_)[its.bias + i] = prepared[biases + uint64_t(i)];
        if constexpr (l + 1 < L::count) bring<l + 1>(prepared);
    }
    template <int l> NACELLE_INLINE void forward_from() {
        constexpr ResidentLayer<int> its = all.layer[l];
        using S = Shares<l>;
        constexpr int its_bands = S::bands, together = S::together;
        NACELLE_ROLLED for (int unit = int(threadIdx.x) / 32; unit < S::units;
                            unit += Block::warps) {
            const int pair = S::pair(unit), band = S::band(unit);
            float sum[its_bands][2 * together][4];
            products<l>(sum, band, pair);
            const float* const bias = reinterpret_cast<const float*>(memory_) + its.bias +
                                      16 * pair + 2 * (warp_lane() % 4);
            NACELLE_UNROLL for (int j = 0; j < 2 * together; ++j) {
                const float first = bias[8 * j], second = bias[8 * j + 1];
                NACELLE_UNROLL for (int b = 0; b < its_bands; ++b) {
                    float(&c)[4] = sum[b][j];
                    c[0] += first;
                    c[1] += second;
                    c[2] += first;
                    c[3] += second;
                    if (2 * pair + j < its.out / 8) leave<l>(16 * (band + b), 2 * pair + j, c);
                }
            }
        }
        __syncthreads();
        if constexpr (l + 1 < L::count) forward_from<l + 1>();
    }
    // Tile j of 8 columns of 16 rows.
    template <int l> NACELLE_INLINE void leave(int row, int j, const float (&c)[4]) const {
        if constexpr (l + 1 == L::count) {
            float* const to = reinterpret_cast<float*>(memory_) + all.outputs;
            store_outputs(to + row * all.output_pitch, all.output_pitch, j, c);
        } else {
            constexpr ResidentLayer<int> next = all.layer[l + 1];
            const auto upper = activated_pair<L::activation, planes>(c[0], c[1]),
                       lower = activated_pair<L::activation, planes>(c[2], c[3]);
            NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                store_pair(memory_ + next.seen + row * next.seen_pitch + p * next.in / 2,
                           next.seen_pitch, j, upper.at[p], lower.at[p]);
        }
    }
    template <int l, int its_bands, int tiles>
    NACELLE_INLINE void products(float (&sum)[its_bands][tiles][4], int band, int pair) {
        constexpr ResidentLayer<int> its = all.layer[l];
        constexpr int steps = its.in / 16;
        float exact[planes > 1 ? its_bands : 1][tiles][4];
        begin_tiles(sum);
        begin_tiles(exact);
        const uint32_t* const seen =
            memory_ + its.seen + 16 * band * its.seen_pitch + tile_corner(its.seen_pitch);
        const auto more = [&](int k) NACELLE_INLINE_LAMBDA {
            if constexpr (planes > 1)
                if (k % tiles_together == tiles_together - 1) move(exact, sum);
        };
        if constexpr (stages > 0) {
            NACELLE_ROLLED for (int first = 0; first < steps; first += 4) {
                const uint32_t* const stage = stream_.next();
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    if (steps % 4 > 0 && first + k >= steps) continue;
                    add_step<l>(sum, seen + 8 * (first + k), [&](int j, int p) {
                        return Stream::chunk(stage + (p * Shares<l>::together + j) * stage_words,
                                             k);
                    });
                }
                more(first + 3);
            }
        } else {
            const uint32_t* const weights =
                memory_ + its.weights + 16 * pair * its.pitch + turned_corner(its.pitch);
            const auto step = [&](int k) NACELLE_INLINE_LAMBDA {
                add_step<l>(sum, seen + 8 * k, [&](int j, int p) {
                    // A last tile that is alone is read twice: behind it lies what other warps write.
                    const bool alone = its.out % 16 > 0 && 16 * (pair + j) + 8 >= its.out;
                    const int row = alone && warp_lane() >= 16 ? 16 * j - 8 : 16 * j;
                    return weights + row * its.pitch + p * its.plane + 8 * k;
                });
            };
            if constexpr (steps <= tiles_together && planes == 1) {
                NACELLE_UNROLL for (int k = 0; k < steps; ++k) step(k);
            } else NACELLE_FOURFOLD for (int k = 0; k < steps; ++k) {
                    step(k);
                    more(k);
                }
        }
        if constexpr (planes > 1) {
            move(exact, sum);
            NACELLE_UNROLL for (int i = 0; i < 4 * its_bands * tiles; ++i)
                sum[i / 4 / tiles][i / 4 % tiles][i % 4] =
                    exact[i / 4 / tiles][i / 4 % tiles][i % 4];
        }
    }
    template <int its_bands, int tiles>
    static NACELLE_INLINE void move(float (&to)[its_bands][tiles][4],
                                    float (&from)[its_bands][tiles][4]) {
        NACELLE_UNROLL for (int i = 0; i < 4 * its_bands * tiles; ++i) {
            float& moved = from[i / 4 / tiles][i / 4 % tiles][i % 4];
            to[i / 4 / tiles][i / 4 % tiles][i % 4] += moved;
            moved = 0;
        }
    }
    // One tile of 16 of the sums, small products first; weights_at(pair, plane) is where this lane reads.
    template <int l, int its_bands, int tiles, class At>
    static NACELLE_INLINE void add_step(float (&sum)[its_bands][tiles][4], const uint32_t* seen,
                                        At&& weights_at) {
        constexpr ResidentLayer<int> its = all.layer[l];
        uint32_t left[its_bands][planes][4];
        NACELLE_UNROLL for (int b = 0; b < its_bands; ++b) {
            NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                load_tiles<false>(left[b][p], seen + 16 * b * its.seen_pitch + p * its.in / 2);
        }
        NACELLE_UNROLL for (int j = 0; j < tiles; j += 2) {
            uint32_t right[planes][4];
            NACELLE_UNROLL for (int p = 0; p < planes; ++p)
                load_tiles<false>(right[p], weights_at(j / 2, p));
            NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
                NACELLE_UNROLL for (int p = small; p >= 0; --p) {
                    NACELLE_UNROLL for (int b = 0; b < its_bands; ++b) {
                        const uint32_t(&w)[4] = right[small - p];
                        multiply(sum[b][j], left[b][p], w[0], w[1]);
                        multiply(sum[b][j + 1], left[b][p], w[2], w[3]);
                    }
                }
            }
        }
    }

    uint32_t* memory_;
    Stream stream_;
};

}
