#pragma once
#include <learn/gpu/tile/cluster_part.h>
// Large products on Hopper. Two blocks of a cluster have 128 rows each below each other and the same columns: each
// brings its rows of the first factor, and half of the second one to both. Two groups of four warps have 64 rows of
// a block; a thread of a third one, which leaves them its registers, brings tiles. The second group stays two steps behind the first one, so that one sums while the other one finishes.

namespace learn {

#if LEARN_WGMMA
template <int stages> struct StageCursor {
    uint32_t stage = 0, phase = 0;

    NACELLE_INLINE void go_on() {
        if (++stage < uint32_t(stages)) return;
        stage = 0;
        phase ^= 1;
    }
};

// Tiles of results on their way to memory: each warp has 16 rows of them, two at once, which lie in one piece.
class TileSender {
public:
    static constexpr uint32_t rows = 16, bytes = rows * tile_side * 2;

    NACELLE_INLINE explicit TileSender(uint32_t slots)
        : slots_(slots + threadIdx.x / 32 * 2 * bytes) {}
    static NACELLE_INLINE uint32_t group() { return threadIdx.x / 128; }

    // words(quad) are this lane's of its warp's 16 rows by 16 columns from a quad of eight columns on.
    template <class Fn> NACELLE_INLINE void send(uint16_t* to, Fn&& words) {
        const uint32_t slot = slots_ + next_ * bytes, lane = threadIdx.x % 32;
        if (lane == 0) await_sent<1>();
        __syncwarp();
        NACELLE_UNROLL for (int q = 0; q < 8; q += 2) {
            uint32_t four[4];
            words(q, four);
            store_tiles_at(slot + 2 * chunk_in_tile(lane % 16, uint32_t(q) + lane / 16), four);
        }
        show_to_copies();
        __syncwarp();
        if (lane == 0) send_tile(to + threadIdx.x % 128 / 32 * rows * tile_side, slot, bytes);
        next_ ^= 1;
    }
    NACELLE_INLINE void finish() const {
        if (threadIdx.x % 32 == 0) await_arrived();
    }

private:
    uint32_t slots_, next_ = 0;
};

template <class Part, bool a_turned, bool b_turned> class ClusterSum {
    static constexpr int planes = Part::planes;

public:
    static constexpr int columns = int(cluster_columns(planes)), quads = columns / 8,
                         stages = int(cluster_stages(planes)), warps = 8, steps_together = 4;
    // The step behind which the other group follows at first: it has given no stage back that this one waits for.
    static constexpr uint32_t ahead = stages > 2 ? 2 : stages - 1;
    static constexpr uint32_t a_bytes = product_rows * 128, b_bytes = columns * 128,
                              stage_bytes = product_stage_bytes(planes, columns);
    static constexpr int a_tiles = int(product_rows / tile_side),
                         b_tiles = columns / int(tile_side);

    NACELLE_INLINE ClusterSum() : rank_(rank_in_cluster()) {
        auto* const memory =
            reinterpret_cast<unsigned char*>(block_memory<int(cluster_bytes / 4)>());
        const uint64_t unaligned = reinterpret_cast<uint64_t>(memory) & 1023u;
        head_ = memory + (unaligned ? 1024 - unaligned : 0);
        full_ = shared_address(head_);
        empty_ = full_ + 8 * stages;
    }
    // Where a block's results may lie.
    NACELLE_INLINE unsigned char* results() const {
        return head_ + product_head_bytes + cluster_stages_bytes;
    }

    // All parts of the launch that are its cluster's. `task` begin()s each of them, sees its stages, looks ahead before
    // the sums are done and finish()es them.
    template <class Task> NACELLE_INLINE void run(const Products& all, uint32_t block, Task& task) {
        if (threadIdx.x == 0) {
            for (uint32_t s = 0; s < uint32_t(stages); ++s) {
                barrier_begin(full_ + 8 * s, 1);
                barrier_begin(empty_ + 8 * s, cluster_blocks * warps);
            }
            barriers_begun();
        }
        __syncthreads();
        meet_cluster();
        if (threadIdx.x >= 32 * warps) {
            keep_few_registers<40>();
            if (threadIdx.x == 32 * warps) bring_all(all, block);
        } else {
            take_registers<232>();
            for (;;) {
                barrier_wait(full_ + 8 * at_.stage, at_.phase);
                const PartWords its = *words_of(at_.stage);
                if (its.steps == no_part) break;
                multiply(Part(all.of + its.product, its.row, its.columns, its.split), its.steps,
                         task);
            }
            task.end();
        }
        __syncwarp();
        meet_cluster();    // nobody leaves while the other one still tells it what it has read
    }

private:
    // What is told of a part with the first of its stages: to find it takes divisions, which one thread does ahead.
    struct alignas(16) PartWords {
        uint16_t product, split;
        uint32_t row, columns, steps;
    };
    static constexpr uint32_t no_part = ~0u, words_at = 512;
    NACELLE_INLINE PartWords* words_of(uint32_t stage) const {
        return reinterpret_cast<PartWords*>(head_ + words_at) + stage;
    }

    NACELLE_INLINE void bring_all(const Products& all, uint32_t block) {
        for (uint32_t i = block / cluster_blocks; i < all.parts; i += all.clusters) {
            const Part part = cluster_part<Part>(all, i, rank_);
            if (!is_cluster_idle(all, part, rank_)) bring(all, part);
        }
        tell({0, 0, 0, 0, no_part});
        barrier_arrive(full_ + 8 * at_.stage);
    }
    // As soon as both blocks have left the next stage.
    NACELLE_INLINE void tell(const PartWords& words) const {
        barrier_wait(empty_ + 8 * at_.stage, at_.phase ^ 1);
        *words_of(at_.stage) = words;
    }
    static NACELLE_INLINE const uint16_t* tile(const TiledMatrix& matrix, int plane, size_t down,
                                               size_t across) {
        return matrix.at + size_t(plane) * matrix.plane +
               (down * matrix.across + across) * tile_numbers;
    }
    NACELLE_INLINE void bring(const Products& all, const Part& part) {
        const Product& p = *part.product;
        const int a_there = max(0, min(int(tiles_along(p.m)) - int(part.row), a_tiles)),
                  b_there = int(part.end_tile() - part.column);
        const uint32_t bytes = planes * 8192u * uint32_t(a_there + b_there),
                       first = part.first_step(), end = part.end_step();
        tell({uint16_t(part.product - all.of), uint16_t(part.split), part.row, part.columns(),
              end - first});
        if (end == first) {
            barrier_arrive(full_ + 8 * at_.stage);
            at_.go_on();
        }
        for (uint32_t k = first; k < end; ++k) {
            const uint32_t full = full_ + 8 * at_.stage,
                           stage = full_ + product_head_bytes + at_.stage * stage_bytes;
            barrier_wait(empty_ + 8 * at_.stage, at_.phase ^ 1);
            barrier_expect(full, bytes);
            NACELLE_UNROLL for (int i = 0; i < a_tiles; ++i) {
                const size_t row = part.row + uint32_t(i);
                NACELLE_UNROLL for (int p_ = 0; p_ < planes; ++p_) {
                    if (i < a_there)
                        bring_tile(stage + uint32_t(p_) * a_bytes + uint32_t(i) * 8192,
                                   tile(p.a, p_, a_turned ? k : row, a_turned ? row : k), 8192,
                                   full);
                }
            }
            NACELLE_UNROLL for (int j = 0; j < b_tiles / 2; ++j) {
                const int i = int(rank_) * (b_tiles / 2) + j;
                const size_t column = part.column + uint32_t(i);
                NACELLE_UNROLL for (int p_ = 0; p_ < planes; ++p_) {
                    if (i < b_there)
                        bring_tile_to_both(
                            stage + planes * a_bytes + uint32_t(p_) * b_bytes + uint32_t(i) * 8192,
                            tile(p.b, p_, b_turned ? k : column, b_turned ? column : k), 8192,
                            full);
                }
            }
            at_.go_on();
        }
    }

    template <class Task>
    NACELLE_INLINE void multiply(const Part& part, uint32_t steps, Task& task) {
        float sum[quads][4];
        float exact[planes > 1 ? quads : 1][4];
        NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 1); ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) exact[i][k] = 0;
        }
        const uint32_t group = TileSender::group();
        task.begin(part);
        if (!begun_ && group == 1) meet_at(behind, 32 * warps);
        if (steps == 0) {
            NACELLE_UNROLL for (int i = 0; i < quads; ++i) {
                NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[i][k] = 0;
            }
            at_.go_on();
            ++entered_;
        }
        uint32_t adds = 0;
        const auto by_columns = [&]<int tiles>() {
            adds = sum_steps<tiles>(reinterpret_cast<float(&)[8 * tiles][4]>(sum), exact, part,
                                    steps, task);
        };
        if constexpr (Part::alike) by_columns.template operator()<b_tiles>();
        else if (part.tiles == 4) by_columns.template operator()<4>();
        else if (part.tiles == 3) by_columns.template operator()<3>();
        else by_columns.template operator()<2>();
        products_await<0>();
        leave(0);
        if (!begun_ && group == 0) go_ahead();
        begun_ = true;
        NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 0); ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) sum[i][k] =
                adds ? sum[i][k] + exact[i][k] : exact[i][k];
        }
        task.finish(part, sum);
    }
    // All steps of so many tiles of columns; whether sums are to be added to the exact ones.
    template <int tiles, class Exact, class Task>
    NACELLE_INLINE uint32_t sum_steps(float (&sum)[8 * tiles][4], Exact& exact, const Part& part,
                                      uint32_t steps, Task& task) {
        const uint32_t group = TileSender::group();
        uint32_t adds = 0;
        NACELLE_ROLLED for (uint32_t k = 0; k < steps; ++k) {
            const uint32_t a = full_ + product_head_bytes + at_.stage * stage_bytes,
                           b = a + planes * a_bytes;
            barrier_wait(full_ + 8 * at_.stage, at_.phase);
            products_begin();
            NACELLE_UNROLL for (uint32_t at = 0; at < 4; ++at) {
                NACELLE_UNROLL for (int small = planes - 1; small >= 0; --small) {
                    NACELLE_UNROLL for (int p = small; p >= 0; --p) {
                        multiply_tiles<a_turned, b_turned>(
                            sum,
                            factor_at(a + uint32_t(p) * a_bytes + group * 8192 +
                                      at * (a_turned ? 2048 : 32)),
                            factor_at(b + uint32_t(small - p) * b_bytes +
                                      at * (b_turned ? 2048 : 32)),
                            adds);
                        adds = 1;
                    }
                }
            }
            products_close();
            task.see(head_ + product_head_bytes + at_.stage * stage_bytes);
            if (!begun_ && group == 0 && k == ahead) go_ahead();
            at_.go_on();
            ++entered_;
            if (k + 1 == steps) task.look_ahead(part);
            if (planes > 1 && k % steps_together == steps_together - 1) {
                products_await<0>();
                NACELLE_UNROLL for (int i = 0; i < (planes > 1 ? quads : 0); ++i) {
                    NACELLE_UNROLL for (int j = 0; j < 4; ++j) exact[i][j] += sum[i][j];
                }
                adds = 0;
                leave(0);
            } else {
                products_await<1>();
                leave(1);
            }
        }
        return adds;
    }
    NACELLE_INLINE void go_ahead() {
        arrive_at(behind, 32 * warps);
        begun_ = true;
    }
    // Both blocks are told which stages this warp has left: all but so many of the last ones.
    NACELLE_INLINE void leave(uint32_t but) {
        __syncwarp();
        NACELLE_ROLLED for (; entered_ > but; --entered_) {
            if (threadIdx.x % 32 < cluster_blocks)
                barrier_arrive_in(empty_ + 8 * left_, threadIdx.x % 32);
            left_ = left_ + 1 == uint32_t(stages) ? 0 : left_ + 1;
        }
    }

    static constexpr uint32_t behind = 1;    // a barrier's number
    uint32_t rank_, full_, empty_, left_ = 0, entered_ = 0;
    unsigned char* head_;
    StageCursor<stages> at_{};
    bool begun_ = false;
};
#endif

}
