#pragma once
#include <learn/gpu/dense/wide_pairs.h>
// The first layer of all rows of a step that have many numbers, by few blocks that stay: a warp takes one 16 rows after
// the other, and brings the first numbers of the next ones while it ends with these. On the way it adds up what it sees,
// so that the sums of a group's observations need no pass of their own. Each block has a slot for these, over all steps.

namespace learn {

template <class E, int policy, class L> class WideChoices {
    using Stage = WideStage<L>;
    static constexpr int columns = 16 * layer_of<L, 0>.in_tiles, warps = block_threads / 32,
                         width = L::in;

public:
    NACELLE_INLINE WideChoices(const Arguments& a, Items items)
        : a_(a),
          memory_(a.memory[Spec<policy>::group]),
          choosers_(a.policy[policy].choosers),
          block_(items.begin / uint64_t(block_threads)),
          warp_(threadIdx.x / 32) {
        for (int k = warp_lane(); k < 2 * columns; k += 32) sums()[k] = 0;
        __syncwarp();
    }
    // fn(number of a warp's rows), for all that are this warp's.
    template <class Fn> NACELLE_INLINE void each(uint64_t count, Fn&& fn) const {
        for (uint64_t its = first(); its * warp_rows < count; its += stride()) fn(its);
    }
    // As over_rows(); those below `counted`, of which each warp's rows are all or none, are added up.
    template <class From, class Fn>
    NACELLE_INLINE void over_rows(uint64_t count, uint64_t counted, From&& from, Fn&& fn) {
        Stage& stage = stages()[warp_];
        uint64_t row = first() * warp_rows;
        const float* next = look_up(row, count, from);
        ChunkOfFloats<width> numbers;
        if (row < count) numbers.read(next, 0, 0, memory_);
        while (row < count) {
            const uint64_t its = row + uint64_t(warp_lane());
            const float* const own = next;
            Sums seen{sums(), memory_.normalises && row < counted};
            row += stride() * warp_rows;
            next = look_up(row, count, from);
            stage.forward(numbers, own, next, row < count, memory_, weights(), bias(), seen);
            if (own) fn(its, stage.outputs());
            __syncwarp();
        }
    }
    // The same of `count` rows that are kept as pairs, all of which are there and are added up.
    template <class From, class Fn>
    NACELLE_INLINE void over_pairs(uint64_t count, From&& from, Fn&& fn) {
        using Row = PairRow<width>;
        Stage& stage = stages()[warp_];
        const auto own_at = [&](uint64_t row) {
            const uint64_t its = row + uint64_t(warp_lane());
            return warp_lane() < warp_rows && its < count ? from(its) : Row{};
        };
        uint64_t row = first() * warp_rows;
        Row next = own_at(row);
        PairRing<L, wide_slots<L>> ring(stage.in, next);
        while (row < count) {
            const uint64_t its = row + uint64_t(warp_lane());
            const Row own = next;
            row += stride() * warp_rows;
            next = own_at(row);
            stage.forward(ring, next, weights(), bias(), [&](const uint32_t* pairs, int chunk) {
                Sums seen{sums(), memory_.normalises != 0};
                seen.begin();
                NACELLE_UNROLL for (int r = 0; r < warp_rows; ++r) {
                    const uint32_t pair = pairs[r * chunk_pitch + warp_lane()];
                    seen.add(low_half(pair), 0);
                    seen.add(high_half(pair), 1);
                }
                seen.end(chunk);
            });
            if (own) fn(its, stage.outputs());
            __syncwarp();
        }
        ring.end();
    }
    // What the block saw in step a.step, of so many rows that the policy's blocks have, behind what it saw before.
    NACELLE_INLINE void store(uint64_t counted) const {
        __syncthreads();
        if (!memory_.normalises) return;
        const bool adds = a_.step > 0;
        double* const to =
            memory_.obs_slots + (choosers_.first + block_) * (1 + 2 * uint64_t(width));
        for (int n = int(threadIdx.x); n < 2 * width; n += block_threads) {
            double sum = adds ? to[1 + n] : 0;
            NACELLE_UNROLL for (int warp = 0; warp < warps; ++warp) sum +=
                double(all()[warp][n % 2 * columns + Sums::place_of(n / 2)]);
            to[1 + n] = sum;
        }
        if (threadIdx.x == 0) to[0] = block_ == 0 ? double(counted) * double(a_.step + 1) : 0;
    }

private:
    NACELLE_INLINE uint64_t first() const { return block_ * warps + warp_; }
    NACELLE_INLINE uint64_t stride() const { return uint64_t(choosers_.count) * warps; }
    // Where the row of this lane lies, of the next rows from `row` on that there are.
    template <class From>
    NACELLE_INLINE const float* look_up(uint64_t& row, uint64_t count, From&& from) const {
        for (; row < count; row += stride() * warp_rows) {
            const uint64_t its = row + uint64_t(warp_lane());
            const float* const own = warp_lane() < warp_rows && its < count ? from(its) : nullptr;
            if (__ballot_sync(~0u, own != nullptr)) return own;
        }
        return nullptr;
    }
    NACELLE_INLINE const float* prepared() const { return a_.policy[policy].prepared; }
    NACELLE_INLINE TilesInMemory<L::planes> weights() const { return {own_words(prepared())}; }
    NACELLE_INLINE const float* bias() const { return prepared() + layout_of<L>.bias_start; }
    static NACELLE_INLINE Stage (&stages())[warps] {
        __shared__ Stage all[warps];
        return all;
    }
    using Sums = SeenSums<columns>;
    static NACELLE_INLINE typename Sums::Sum (&all())[warps][2 * columns] {
        __shared__ typename Sums::Sum sums[warps][2 * columns];
        return sums;
    }
    NACELLE_INLINE typename Sums::Sum* sums() const { return all()[warp_]; }

    const Arguments& a_;
    const Memory& memory_;
    const Choosers& choosers_;
    uint64_t block_;
    uint32_t warp_;
};

}
