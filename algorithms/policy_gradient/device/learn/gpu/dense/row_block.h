#pragma once
#include <learn/gpu/dense/row_columns.h>
#include <learn/gpu/dense/row_ring.h>
// A block of a row pass: its buffers, how levels come and go, and the product of a level and a layer's weights.
// Two warpgroups work on it; one thread of a third one brings weights.

namespace learn {

template <class L> class RowBlock : public RowColumns<L> {
public:
    using Columns = RowColumns<L>;
    using Columns::down, Columns::across, Columns::hidden, Columns::group_down, Columns::in_rows;
    static constexpr RowPassLayout layout = Columns::layout;
    static constexpr int planes = L::planes;
    static constexpr uint32_t tile_bytes = tile_numbers * 2;
    static constexpr bool needs_input = Curve<L::activation>::needs_input;

    // Takes row blocks `first`, `first` + `turns` and so on.
    NACELLE_INLINE RowBlock(const Stream& stream, const RowPassLayer* layers, uint32_t first,
                            uint32_t turns)
        : stream_(stream),
          layers_(layers),
          first_(first),
          turns_(turns),
          end_(uint32_t(whole_blocks(stream.rows)) / layout.rows),
          head_(head()),
          ring_(head_, head_ + row_pass_head_bytes + 2 * layout.buffer_bytes) {}
#if LEARN_WGMMA
    // One thread, before all others come together.
    NACELLE_INLINE void begin() const {
        ring_.begin();
        for (uint32_t i = 0; i < down; ++i) barrier_begin(level_barrier(i), 1);
        barriers_begun();
    }
#endif
    NACELLE_INLINE uint32_t first() const { return first_; }
    NACELLE_INLINE uint32_t end() const { return end_; }
    NACELLE_INLINE uint32_t next(uint32_t block) const { return block + turns_; }
    NACELLE_INLINE const RowPassLayer& layer(int l) const { return layers_[l]; }

    // This warpgroup's 64 rows of a level, in its first plane.
    NACELLE_INLINE unsigned char* level(uint32_t l) const {
        return head_ + row_pass_head_bytes + l % 2 * layout.buffer_bytes +
               group_down() * (layout.widest * tile_bytes);
    }

    // The warpgroups of the same rows come together.
    static NACELLE_INLINE void meet() {
#if LEARN_WGMMA
        meet_at(1 + group_down(), 128 * across);
#else
        __syncthreads();
#endif
    }
    // All come together but the warp that brings the weights.
    static NACELLE_INLINE void meet_all() {
#if LEARN_WGMMA
        meet_at(3, 32 * pass_warps);
#else
        __syncthreads();
#endif
    }
    static NACELLE_INLINE bool leads() { return in_rows() == 0; }
    // They come together, and what has been on its way to memory has been read.
    static NACELLE_INLINE void settle() {
#if LEARN_WGMMA
        show_to_copies();
        if (leads()) await_read();
#endif
        meet();
    }
    // Tiles of these rows to memory; the buffer may change after settle().
    static NACELLE_INLINE void leave(uint16_t* to, uint64_t plane, const unsigned char* from,
                                     uint32_t plane_bytes, uint32_t tiles, uint32_t block) {
        const size_t row = size_t(block) * down + group_down();
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            uint16_t* const there = to + size_t(p) * plane + row * tiles * tile_numbers;
            const unsigned char* const here = from + uint32_t(p) * plane_bytes;
#if LEARN_WGMMA
            if (leads()) take_tiles(there, shared_address(here), tiles * tile_bytes);
#else
            for (uint32_t i = in_rows(); i < tiles * 512; i += 128 * across)
                *reinterpret_cast<Four*>(there + chunk_numbers * i) =
                    *reinterpret_cast<const Four*>(here + 16 * i);
#endif
        }
#if LEARN_WGMMA
        if (leads()) close_taken();
#else
        __syncthreads();
#endif
    }
    // And from there: on its way, until await_level().
    NACELLE_INLINE void bring(uint32_t l, const uint16_t* from, uint64_t plane, uint32_t tiles,
                              uint32_t block) const {
        const size_t row = size_t(block) * down + group_down();
#if LEARN_WGMMA
        if (!leads()) return;
        barrier_expect(level_barrier(group_down()), uint32_t(planes) * tiles * tile_bytes);
#else
        __syncthreads();
#endif
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const there = from + size_t(p) * plane + row * tiles * tile_numbers;
            unsigned char* const here = level(l) + uint32_t(p) * layout.plane_bytes;
#if LEARN_WGMMA
            bring_tile(shared_address(here), there, tiles * tile_bytes,
                       level_barrier(group_down()));
#else
            for (uint32_t i = in_rows(); i < tiles * 512; i += 128 * across)
                bring_async(here + 16 * i, there + chunk_numbers * i, true);
#endif
        }
#if !LEARN_WGMMA
        __syncthreads();
#endif
    }
    NACELLE_INLINE void await_level() {
#if LEARN_WGMMA
        barrier_wait(level_barrier(group_down()), levels_++ & 1);
#endif
    }
    NACELLE_INLINE void bring_seen(uint32_t block) const {
        bring(0, stream_.seen.at, stream_.seen.plane, stream_.seen.across, block);
    }
    // What the slope of level l's activation needs, once more.
    NACELLE_INLINE void bring_kept(uint32_t l, uint32_t block) const {
        const RowPassLayer& layer = layers_[l - 1];
#if LEARN_WGMMA
        if (leads()) {
            if (l == uint32_t(hidden)) await_taken<0>();
            else await_taken<1>();    // slopes that this buffer does not have
            show_all();
        }
#endif
        bring(l, needs_input ? layer.straight : layer.seen, layer.level_plane,
              tiles_along(layer.out), block);
    }

#if LEARN_WGMMA
    // In the order in which the products take them, of the way forward alone or of both.
    template <bool back = true> NACELLE_INLINE void bring_weights() {
        const uint32_t rank = rank_in_cluster();
        NACELLE_ROLLED for (uint32_t block = first_ - rank; block < end_; block = next(block)) {
            NACELLE_ROLLED for (int l = 0; l <= hidden; ++l) {
                const RowPassLayer layer = layers_[l];
                NACELLE_ROLLED for (uint32_t k = 0; k < tiles_along(layer.in); ++k)
                    NACELLE_ROLLED for (int p = planes - 1; p >= 0; --p)
                        ring_.put(forward_unit(layer, k, p), rank);
            }
            if (!back) continue;
            ring_.put({nullptr, 0, 0, 0}, rank);
            NACELLE_ROLLED for (int l = hidden; l > 0; --l) {
                const RowPassLayer layer = layers_[l];
                NACELLE_ROLLED for (uint32_t k = 0; k < tiles_along(layer.out); ++k)
                    NACELLE_ROLLED for (int p = planes - 1; p >= 0; --p)
                        ring_.put(backward_unit(layer, k, p), rank);
            }
        }
    }
#endif
    // Sums of a level's rows and a layer's weights, `ends` times 16 steps of each tile. With several planes the small
    // products come first. Slots may stay taken, together with the one before them.
    template <int n, bool turned, bool holds, uint32_t ends>
    NACELLE_INLINE void multiply_by(float (&c)[8 * n][4], const RowPassLayer& layer,
                                    const unsigned char* from, uint32_t plane_bytes,
                                    uint32_t first) {
        const uint32_t tiles = tiles_along(turned ? layer.out : layer.in);
        NACELLE_UNROLL for (int i = 0; i < 8 * n; ++i) {
            NACELLE_UNROLL for (int k = 0; k < 4; ++k) c[i][k] = 0;
        }
        NACELLE_ROLLED for (uint32_t k = 0;;) {
            NACELLE_UNROLL for (int p = planes - 1; p >= 0; --p) {
                const unsigned char* const b =
                    ring_.take(turned ? backward_unit(layer, k, p) : forward_unit(layer, k, p)) +
                    first * tile_bytes;
#if LEARN_WGMMA
                products_begin();
#endif
                NACELLE_UNROLL for (uint32_t at = 0; at < ends; ++at) {
                    NACELLE_UNROLL for (int q = planes - 1 - p; q >= 0; --q)
                        multiply_slot<n, turned>(
                            c, from + uint32_t(q) * plane_bytes + k * tile_bytes, b, at);
                }
#if LEARN_WGMMA
                products_close();
                if constexpr (!holds) {
                    products_await<1>();
                    ring_.give_back_but(1);
                }
#endif
            }
            if (++k == tiles) break;
        }
#if LEARN_WGMMA
        products_await<0>();
#endif
        if constexpr (!holds) ring_.give_back_but(0);
    }
    // A warpgroup that has none of the columns.
    template <bool turned, bool holds> NACELLE_INLINE void pass_by(const RowPassLayer& layer) {
        const uint32_t steps = turned ? layer.out : layer.in;
        NACELLE_ROLLED for (uint32_t k = 0; k < tiles_along(steps); ++k)
            NACELLE_ROLLED for (int p = planes - 1; p >= 0; --p) {
            ring_.take(turned ? backward_unit(layer, k, p) : forward_unit(layer, k, p));
            if (!holds) ring_.give_back_but(0);
        }
    }
    // A turn in which the cluster's other block has the last rows.
    template <bool back = true> NACELLE_INLINE void pass_turn_by() {
#if LEARN_WGMMA
        if (rank_in_cluster() == 0 || (end_ + turns_ - first_) % turns_ != 0) return;
        NACELLE_ROLLED for (int l = 0; l <= hidden; ++l) pass_by<false, false>(layers_[l]);
        if (!back) return;
        take_empty();
        ring_.give_back_but(0);
        NACELLE_ROLLED for (int l = hidden; l > 0; --l) pass_by<true, false>(layers_[l]);
#endif
    }
    // A slot of the ring that nothing comes into, and that goes back with those after it when its tiles have left.
    NACELLE_INLINE unsigned char* take_empty() { return ring_.take({nullptr, 0, 0, 0}); }
    NACELLE_INLINE void give_back_empty() {
#if LEARN_WGMMA
        if (leads()) await_read();
#endif
        ring_.give_back_but(0);
    }
    // Shared memory is read no more.
    static NACELLE_INLINE void end_leaving() {
#if LEARN_WGMMA
        if (leads()) await_read();
#endif
    }
    // Where a lane stores of its 16 rows by 16 columns, from quad number `quad` of tile `first` on.
    static NACELLE_INLINE unsigned char* place(unsigned char* level, uint32_t first,
                                               uint32_t quad) {
        const uint32_t row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 16,
                       chunk = quad + threadIdx.x % 32 / 16;
        return level + (first + chunk / 8) * tile_bytes + 2 * chunk_in_tile(row, chunk % 8);
    }
    static NACELLE_INLINE void put(unsigned char* to, const Planes<planes> (&pair)[4]) {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint32_t words[4] = {pair[0].at[p], pair[1].at[p], pair[2].at[p], pair[3].at[p]};
            store_tiles(to + uint32_t(p) * layout.plane_bytes, words);
        }
    }
    static NACELLE_INLINE void get(const unsigned char* from, Planes<planes> (&pair)[4]) {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            uint32_t words[4];
            load_tiles<false>(words, from + uint32_t(p) * layout.plane_bytes);
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) pair[i].at[p] = words[i];
        }
    }

private:
    using Ring = RowRing<layout.slots, layout.slot_bytes>;

    static NACELLE_INLINE unsigned char* head() {
        auto* const memory =
            reinterpret_cast<unsigned char*>(block_memory<int(layout.bytes() / 4)>());
        const uint64_t unaligned = reinterpret_cast<uint64_t>(memory) & 1023u;
        return memory + (unaligned ? 1024 - unaligned : 0);
    }
#if LEARN_WGMMA
    NACELLE_INLINE uint32_t level_barrier(uint32_t i) const {
        return shared_address(head_) + Ring::barrier_bytes + 8 * i;
    }
#endif

    const Stream& stream_;
    const RowPassLayer* layers_;
    uint32_t first_, turns_, end_;
    uint32_t levels_ = 0;    // that have come
    unsigned char* head_;
    Ring ring_;
};

}
