#pragma once
#include <learn/gpu/tile/hopper.h>
#include <learn/gpu/update/loss_gradient.h>
#include <learn/layout/blocked.h>
// One block's part of a matrix product: 128 rows by 64 or 128 columns, summed over steps of 64. Eight warps have 16 rows
// each; on Hopper a ninth one brings the factors' tiles, elsewhere all threads do. With two planes, 32-bit floats of 16
// bits, there are three products a step, with three planes six, the small ones first; every four steps their sum is
// added to one in floats, since the cores cut off what their own sums have no bits for.

namespace learn {

template <int planes, bool a_turned, bool b_turned, int columns> class TileSum {
public:
    static constexpr int warps = 8, quads = columns / 8;
    static constexpr uint32_t a_bytes = product_rows * 128, b_bytes = columns * 128,
                              stage_bytes = product_stage_bytes(planes, columns);
    static constexpr int a_tiles = int(product_rows / tile_side),
                         b_tiles = columns / int(tile_side), steps_together = 4;

    // Lane 4 g + t of a warp has of its rows g and g + 8, columns 8 i + 2 t and the next: sum[i][0, 1] and [2, 3].
    float sum[quads][4];

    // Rows from tile `row` on and columns from tile `column` on, over tiles [first, end) of the sum.
    NACELLE_INLINE TileSum(const Product& product, uint32_t row, uint32_t column, uint32_t first,
                           uint32_t end)
        : product_(product),
          row_(row),
          column_(column),
          first_(first),
          steps_(int(end) - int(first)),
          a_there_(min(int(tiles_along(product.m)) - int(row), a_tiles)),
          b_there_(min(int(tiles_along(product.n)) - int(column), b_tiles)) {
        auto* const memory = reinterpret_cast<unsigned char*>(
            block_memory<int(product_bytes(planes, uint32_t(columns)) / 4)>());
        const uint64_t unaligned = reinterpret_cast<uint64_t>(memory) & 1023u;
        head_ = memory + (unaligned ? 1024 - unaligned : 0);
        NACELLE_UNROLL for (int i = 0; i < quads; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[i][k] = 0;
        }
    }
    // Where a block's own results may lie when the sums are done, and all threads have come together.
    NACELLE_INLINE unsigned char* stages() const { return head_ + product_head_bytes; }

    // with_stage(A's tiles) is called by the eight warps for each step.
    template <class Fn> NACELLE_INLINE void run(Fn&& with_stage) {
        float exact[planes > 1 ? quads : 1][4];
        NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 1); ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) exact[i][k] = 0;
        }
        const auto move_sums = [&] {
            NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 0); ++i) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) {
                    exact[i][k] += sum[i][k];
                    sum[i][k] = 0;
                }
            }
        };
#if LEARN_WGMMA
        run_hopper(with_stage, move_sums);
#else
        run_anywhere(with_stage, move_sums);
#endif
        NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 0); ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[i][k] += exact[i][k];
        }
        __syncthreads();
    }

private:
    // fn(where it goes in a stage, in bytes, and where it lies) for every tile of a step.
    template <class Fn> NACELLE_INLINE void each_tile(int step, Fn&& fn) const {
        const size_t k = first_ + uint32_t(step);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (int i = 0; i < a_tiles; ++i) {
                const size_t row = row_ + uint32_t(i);
                if (i < a_there_)
                    fn(uint32_t(p) * a_bytes + uint32_t(i) * 8192,
                       tile(product_.a, p, a_turned ? k : row, a_turned ? row : k));
            }
            NACELLE_UNROLL for (int i = 0; i < b_tiles; ++i) {
                const size_t column = column_ + uint32_t(i);
                if (i < b_there_)
                    fn(planes * a_bytes + uint32_t(p) * b_bytes + uint32_t(i) * 8192,
                       tile(product_.b, p, b_turned ? k : column, b_turned ? column : k));
            }
        }
    }
    static NACELLE_INLINE const uint16_t* tile(const TiledMatrix& matrix, int plane, size_t down,
                                               size_t across) {
        return matrix.at + size_t(plane) * matrix.plane +
               (down * matrix.across + across) * tile_numbers;
    }

#if LEARN_WGMMA
    template <class Fn, class Move>
    NACELLE_INLINE void run_hopper(Fn& with_stage, Move& move_sums) {
        constexpr int stages = int(product_stages(planes, columns));
        const uint32_t full = shared_address(head_), empty = full + 8 * stages,
                       memory = full + product_head_bytes;
        if (threadIdx.x == 0) {
            for (uint32_t s = 0; s < uint32_t(stages); ++s) {
                barrier_begin(full + 8 * s, 1);
                barrier_begin(empty + 8 * s, warps);
            }
            barriers_begun();
        }
        __syncthreads();
        const uint32_t bytes = planes * 8192u * uint32_t(a_there_ + b_there_);
        if (threadIdx.x >= 32 * warps) {
            for (int k = 0; threadIdx.x == 32 * warps && k < steps_; ++k) {
                const uint32_t s = uint32_t(k % stages);
                if (k >= stages) barrier_wait(empty + 8 * s, uint32_t(k / stages - 1) & 1);
                barrier_expect(full + 8 * s, bytes);
                each_tile(k, [&](uint32_t to, const uint16_t* from) {
                    bring_tile(memory + s * stage_bytes + to, from, 8192, full + 8 * s);
                });
            }
            return;
        }
        int left = 0;    // stages that this warp has left
        const auto leave_before = [&](int step) {
            __syncwarp();
            for (; left < step; ++left)
                if (threadIdx.x % 32 == 0) barrier_arrive(empty + 8 * uint32_t(left % stages));
        };
        const uint32_t group = threadIdx.x / 128;    // of four warps: 64 rows
        for (int k = 0; k < steps_; ++k) {
            const uint32_t s = uint32_t(k % stages), a = memory + s * stage_bytes,
                           b = a + planes * a_bytes;
            barrier_wait(full + 8 * s, uint32_t(k / stages) & 1);
            products_begin();
            NACELLE_UNROLL for (uint32_t at = 0; at < 4; ++at) {
                NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
                    NACELLE_UNROLL for (int p = small; p >= 0; --p)
                        multiply_tiles<a_turned, b_turned>(
                            sum,
                            factor_at(a + uint32_t(p) * a_bytes + group * 8192 +
                                      at * (a_turned ? 2048 : 32)),
                            factor_at(b + uint32_t(small - p) * b_bytes +
                                      at * (b_turned ? 2048 : 32)));
                }
            }
            products_close();
            with_stage(stages_at(s));
            if (planes > 1 && k % steps_together == steps_together - 1) {
                products_await<0>();
                move_sums();
                leave_before(k + 1);
            } else {
                products_await<1>();
                leave_before(k);
            }
        }
        products_await<0>();
    }
#else
    template <class Fn, class Move>
    NACELLE_INLINE void run_anywhere(Fn& with_stage, Move& move_sums) {
        constexpr int stages = int(product_stages(planes, columns));
        const auto bring = [&](int step) {
            if (step < steps_)
                each_tile(step, [&](uint32_t to, const uint16_t* from) {
                    unsigned char* const place = stages_at(uint32_t(step % stages)) + to;
                    for (uint32_t i = threadIdx.x; i < 512; i += product_threads)
                        bring_async(place + 16 * i, from + chunk_numbers * i, true);
                });
            close_group();
        };
        NACELLE_UNROLL for (int k = 0; k + 1 < stages; ++k) bring(k);
        NACELLE_ROLLED for (int k = 0; k < steps_; ++k) {
            await_groups<stages - 2>();
            __syncthreads();
            bring(k + stages - 1);
            if (threadIdx.x < 32 * warps) {
                const unsigned char* const a = stages_at(uint32_t(k % stages));
                multiply_step(a, a + planes * a_bytes);
                with_stage(a);
                if (k % steps_together == steps_together - 1) move_sums();
            }
        }
    }
    NACELLE_INLINE void multiply_step(const unsigned char* a, const unsigned char* b) {
        const int lane = warp_lane(), row = int(threadIdx.x) / 32 * 16;
        NACELLE_ROLLED for (int at = 0; at < 64; at += 16) {
            uint32_t left[planes][4];
            NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                const unsigned char* const plane = a + uint32_t(p) * a_bytes;
                if constexpr (a_turned)
                    load_tiles<true>(left[p], chunk_at(plane, at + lane % 8 + lane / 16 * 8,
                                                       row + lane / 8 % 2 * 8));
                else
                    load_tiles<false>(left[p],
                                      chunk_down(plane, row + lane % 16, at + lane / 16 * 8));
            }
            NACELLE_UNROLL for (int j = 0; j < quads; j += 2) {
                uint32_t right[planes][4];
                NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
                    const unsigned char* const plane = b + uint32_t(p) * b_bytes;
                    if constexpr (b_turned)
                        load_tiles<true>(right[p],
                                         chunk_at(plane, at + lane % 16, 8 * j + lane / 16 * 8));
                    else
                        load_tiles<false>(right[p],
                                          chunk_down(plane, 8 * j + lane % 8 + lane / 16 * 8,
                                                     at + lane / 8 % 2 * 8));
                }
                NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
                    NACELLE_UNROLL for (int p = small; p >= 0; --p) {
                        multiply(sum[j], left[p], right[small - p][0], right[small - p][1]);
                        multiply(sum[j + 1], left[p], right[small - p][2], right[small - p][3]);
                    }
                }
            }
        }
    }
    // The chunk of a row and column where tiles lie beside each other, and where they lie below each other.
    static NACELLE_INLINE const unsigned char* chunk_at(const unsigned char* tiles, int row,
                                                        int column) {
        return tiles + column / 64 * 8192 +
               2 * chunk_in_tile(uint32_t(row), uint32_t(column % 64 / 8));
    }
    static NACELLE_INLINE const unsigned char* chunk_down(const unsigned char* tiles, int row,
                                                          int column) {
        return tiles + row / 64 * 8192 +
               2 * chunk_in_tile(uint32_t(row % 64), uint32_t(column / 8));
    }
#endif
    NACELLE_INLINE unsigned char* stages_at(uint32_t stage) const {
        return head_ + product_head_bytes + stage * stage_bytes;
    }

    const Product& product_;
    uint32_t row_, column_, first_;
    int steps_, a_there_, b_there_;
    unsigned char* head_;
};

}
