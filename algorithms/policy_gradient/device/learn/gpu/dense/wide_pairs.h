#pragma once
#include <learn/gpu/dense/wide_input.h>
// A first layer that sees many numbers of rows that are kept as pairs: they go from memory to shared memory past the
// registers, several chunks ahead of the products.

namespace learn {

// Where a warp's 16 rows lie; eight lanes have a chunk of a row, 16 bytes each.
template <class L> struct PairRows {
    static constexpr int pieces = kept_words(L::in) / 4, each = warp_rows / 4;
    const uint32_t* row[each];    // of every fourth row, or null

    // Each lane of the first half brings its row.
    NACELLE_INLINE void look_up(const PairRow<L::in>& own) {
        NACELLE_UNROLL for (int i = 0; i < each; ++i) row[i] = reinterpret_cast<const uint32_t*>(
            __shfl_sync(~0u, reinterpret_cast<uint64_t>(own.at), warp_lane() / 8 + 4 * i));
    }
    // A chunk of rows that lie `pitch` words apart is on its way; zeros where nothing is.
    NACELLE_INLINE void bring(uint32_t* to, int pitch, int chunk) const {
        const int piece = 8 * chunk + warp_lane() % 8;
        NACELLE_UNROLL for (int i = 0; i < each; ++i)
            bring_async(to + (warp_lane() / 8 + 4 * i) * pitch + 4 * (warp_lane() % 8),
                        row[i] + 4 * min(piece, pieces - 1), row[i] && piece < pieces);
        close_group();
    }
};
// Rows of an update, all of whose chunks stay where they are brought: on their way at once.
template <class L, int bands, int chunk, int out_tiles, class Weights>
NACELLE_INLINE void multiply_from(float (&sum)[1][out_tiles][4], const uint32_t* rows, int pitch,
                                  const Weights& weights) {
    if constexpr (chunk < chunks_in<L>) {
        await_groups<chunks_in<L> - 1 - chunk>();
        __syncwarp();
        multiply_chunk<L, true>(sum, rows + chunk * (chunk_inputs / 2), pitch, chunk, weights);
        multiply_from<L, bands, chunk + 1>(sum, rows, pitch, weights);
    }
}
template <class L, int bands, class Weights>
NACELLE_INLINE void forward_pairs(LayerFragments<L, bands>& fragments, uint32_t* rows, int pitch,
                                  const PairRow<L::in>& own, const Weights& weights,
                                  const float* bias) {
    constexpr FusedLayer<int> its = layer_of<L, 0>;
    PairRows<L> lie;
    lie.look_up(own);
    NACELLE_UNROLL for (int chunk = 0; chunk < chunks_in<L>; ++chunk)
        lie.bring(rows + chunk * (chunk_inputs / 2), pitch, chunk);
    float sum[1][its.out_tiles][4];
    begin_tiles(sum, bias + its.bias + 2 * (warp_lane() % 4));
    multiply_from<L, bands, 0>(sum, rows, pitch, weights);
    NACELLE_UNROLL for (int j = 0; j < its.out_tiles; ++j)
        fragments.template activate<1>(0, j, sum[0][j]);
}

// Rows that are seen once go through a ring of chunks: so many are on their way while one is multiplied.
template <class L, int slots> class PairRing {
    static constexpr int ahead = slots - 1, chunks = chunks_in<L>, slot = warp_rows * chunk_pitch;
    static_assert(slots > 1 && ahead <= chunks);

public:
    NACELLE_INLINE PairRing(uint32_t* words, const PairRow<L::in>& first) : words_(words) {
        next_.look_up(first);
        for (int chunk = 0; chunk < ahead; ++chunk)
            next_.bring(words + chunk * slot, chunk_pitch, chunk);
    }
    // The rows that were looked up last; then those at `next` are on their way, or none. see(pairs, chunk) hears of each.
    template <class Weights, class See>
    NACELLE_INLINE void forward(LayerFragments<L>& fragments, const PairRow<L::in>& next,
                                const Weights& weights, const float* bias, See&& see) {
        constexpr FusedLayer<int> its = layer_of<L, 0>;
        const PairRows<L> now = next_;
        next_.look_up(next);
        float sum[1][its.out_tiles][4];
        begin_tiles(sum, bias + its.bias + 2 * (warp_lane() % 4));
        NACELLE_ROLLED for (int chunk = 0; chunk < chunks; ++chunk) {
            await_groups<ahead - 1>();
            __syncwarp();    // all have come, and what lay in the next slot has been multiplied
            const int later = chunk + ahead, into = at_ + ahead;
            const bool goes_on = later >= chunks;
            PairRows<L> from;
            NACELLE_UNROLL for (int i = 0; i < from.each; ++i) from.row[i] =
                goes_on ? next_.row[i] : now.row[i];
            from.bring(words_ + (into < slots ? into : into - slots) * slot, chunk_pitch,
                       goes_on ? later - chunks : later);
            const uint32_t* const here = words_ + at_ * slot;
            see(here, chunk);
            multiply_chunk<L, true>(sum, here, chunk_pitch, chunk, weights);
            at_ = at_ + 1 < slots ? at_ + 1 : 0;
        }
        NACELLE_UNROLL for (int j = 0; j < its.out_tiles; ++j)
            fragments.template activate<1>(0, j, sum[0][j]);
    }
    // Nothing is on its way any more.
    NACELLE_INLINE void end() const {
        await_groups<0>();
        __syncwarp();
    }

private:
    uint32_t* words_;
    PairRows<L> next_;
    int at_ = 0;
};

// A warp's 16 rows outside of an update; each lane of the first half owns one, or none.
template <class L> inline constexpr int wide_slots = !keeps_pairs ? 1 : wide_slots_of(layout_of<L>);
template <class L, int slots = wide_slots<L>> struct WideStage {
    alignas(16) uint32_t in[slots * warp_rows * chunk_pitch];
    float out[warp_rows * layout_of<L>.out_pitch];

    NACELLE_INLINE const float* outputs() const {
        return out + warp_lane() * layout_of<L>.out_pitch;
    }
    template <class Weights>
    NACELLE_INLINE void forward(const float* own, const Memory& memory, const Weights& weights,
                                const float* bias) {
        ChunkOfFloats<L::in> numbers;
        NoSums none;
        numbers.read(own, 0, 0, memory);
        forward(numbers, own, nullptr, false, memory, weights, bias, none);
    }
    template <class Weights, class Sums>
    NACELLE_INLINE void forward(ChunkOfFloats<L::in>& numbers, const float* own, const float* next,
                                bool goes_on, const Memory& memory, const Weights& weights,
                                const float* bias, Sums& sums) {
        LayerFragments<L> fragments;
        forward_chunks(fragments, in, chunk_pitch, 0, numbers, own, next, goes_on, memory, weights,
                       bias, sums);
        behind_first(fragments, weights, bias);
    }
    template <class Weights>
    NACELLE_INLINE void forward(const PairRow<L::in>& own, const Memory&, const Weights& weights,
                                const float* bias) {
        PairRing<L, slots> ring(in, own);
        forward(ring, {}, weights, bias, [](const uint32_t*, int) {});
        ring.end();
    }
    template <class Weights, class See>
    NACELLE_INLINE void forward(PairRing<L, slots>& ring, const PairRow<L::in>& next,
                                const Weights& weights, const float* bias, See&& see) {
        LayerFragments<L> fragments;
        ring.forward(fragments, next, weights, bias, see);
        behind_first(fragments, weights, bias);
    }
    // Of rows that are all of one kind.
    template <class Weights>
    NACELLE_INLINE void forward(const StandingRow<L::in>& own, const Memory& memory,
                                const Weights& weights, const float* bias) {
        if (__ballot_sync(~0u, bool(own.kept))) forward(own.kept, memory, weights, bias);
        else forward(own.floats, memory, weights, bias);
    }

private:
    template <class Weights>
    NACELLE_INLINE void behind_first(LayerFragments<L>& fragments, const Weights& weights,
                                     const float* bias) {
        fragments.template forward<1>(weights, bias, [&](int, int j, const float(&c)[4]) {
            store_outputs(out, layout_of<L>.out_pitch, j, c);
        });
        __syncwarp();
    }
};

}
