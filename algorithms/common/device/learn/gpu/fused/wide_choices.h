#pragma once
#include <learn/gpu/fused/wide_input.h>
// The first layer of all rows of a step that have many numbers, by few blocks that stay: a warp takes one 16 rows after
// the other, and brings the first numbers of the next ones while it ends with these. On the way it adds up what it sees,
// so that the sums of a group's observations need no pass of their own. Each block has a slot for these, over all steps.

namespace learn {

template <class E, int policy, class L> class WideChoices {
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
        __shared__ WideStage<L> stages[warps];
        WideStage<L>& stage = stages[warp_];
        const float* const prepared = a_.policy[policy].prepared;
        const TilesInMemory<L::planes> weights{own_words(prepared)};
        const float* const bias = prepared + layout_of<L>.bias_start;
        uint64_t row = first() * warp_rows;
        auto next = look_up(row, count, from);
        using Row = decltype(next);
        ChunkOfRows<Row, width> numbers;
        if (row < count) numbers.read(next, 0, 0, memory_);
        while (row < count) {
            const uint64_t its = row + uint64_t(warp_lane());
            const Row own = next;
            SeenSums<columns> seen{sums(), memory_.normalises && row < counted};
            row += stride() * warp_rows;
            next = look_up(row, count, from);
            stage.template forward<Row>(numbers, own, next, row < count, memory_, weights, bias,
                                        seen);
            if (own) fn(its, stage.outputs());
            __syncwarp();
        }
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
                all()[warp][n % 2 * columns + SeenSums<columns>::place_of(n / 2)];
            to[1 + n] = sum;
        }
        if (threadIdx.x == 0) to[0] = block_ == 0 ? double(counted) * double(a_.step + 1) : 0;
    }

private:
    NACELLE_INLINE uint64_t first() const { return block_ * warps + warp_; }
    NACELLE_INLINE uint64_t stride() const { return uint64_t(choosers_.count) * warps; }
    // Where the row of this lane lies, of the next rows from `row` on that there are.
    template <class From>
    NACELLE_INLINE auto look_up(uint64_t& row, uint64_t count, From&& from) const {
        using Row = decltype(from(row));
        for (; row < count; row += stride() * warp_rows) {
            const uint64_t its = row + uint64_t(warp_lane());
            const Row own = warp_lane() < warp_rows && its < count ? from(its) : Row{};
            if (__ballot_sync(~0u, bool(own))) return own;
        }
        return Row{};
    }
    static NACELLE_INLINE double (&all())[warps][2 * columns] {
        __shared__ double sums[warps][2 * columns];
        return sums;
    }
    NACELLE_INLINE double* sums() const { return all()[warp_]; }

    const Arguments& a_;
    const Memory& memory_;
    const Choosers& choosers_;
    uint64_t block_;
    uint32_t warp_;
};

}
