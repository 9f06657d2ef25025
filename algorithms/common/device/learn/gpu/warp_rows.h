#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/prepared.h>
#include <learn/gpu/warp_mind.h>
// Passes of tensor cores over rows that lie in memory: a warp takes 16 at a time. An item is a thread.

namespace learn {

// fn(number of the row, its outputs) on the lane that owns it, for every row below `count`; from(number) is
// where its numbers lie, or null.
template <class E, int policy, class L, class From, class Fn>
NACELLE_INLINE void over_rows(const Arguments& a, const float* prepared, Items items,
                              uint64_t count, From&& from, Fn&& fn) {
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;
    __shared__ Desk<L> desks[block_threads / 32];
    const uint64_t first = items.begin / 32 * warp_rows;
    if (first >= count) return;    // the whole warp
    Desk<L>& desk = desks[threadIdx.x / 32];
    const Memory& memory = a.memory[Spec<policy>::group];
    const int lane = warp_lane();
    W::clear(desk);
    __syncwarp();
    const bool mine = lane < warp_rows && first + uint64_t(lane) < count;
    const float* const obs = mine ? from(first + uint64_t(lane)) : nullptr;
    if (!__ballot_sync(~0u, obs != nullptr)) return;
    if (obs) W::put(desk, lane, obs, memory);
    const TilesInMemory<F::planes> weights{W::words(prepared)};
    think_once<L>(desk, weights, prepared + F::bias_start);
    if (obs) fn(first + uint64_t(lane), desk.out + lane * Desk<L>::pitch_out);
}

template <class E, int policy>
NACELLE_INLINE void review(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    constexpr size_t width = size_t(width_of<E, policy>);
    const Memory& memory = a.memory[Spec<policy>::group];
    const auto at_of = [&](uint64_t i) { return place_of<E, policy>(view, a, uint32_t(i)); };
    if (a.pupil[policy].found[stopped] != 0) return;
    over_rows<E, policy, typename N::Actor>(
        a, a.pupil[policy].prepared, items, samples_of<E, policy>(view, a),
        [&](uint64_t i) { return memory.obs + at_of(i) * width; },
        [&](uint64_t i, const float* out) { review_row<E, policy>(a, at_of(i), out); });
}

// The values of everything that a rollout saw, and of where episodes were cut short, by a network of its
// own: step after step of the policy's seats, then the ends.
template <class E, int policy>
NACELLE_INLINE void appraise(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    constexpr size_t width = size_t(width_of<E, policy>);
    const Pupil& pupil = a.pupil[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const uint64_t seats = pupil.seats, seen = uint64_t(a.steps + 1) * seats,
                   all = seen + uint64_t(a.steps) * seats;
    const auto at_of = [&](uint64_t i) {
        const uint64_t k = i < seen ? i : i - seen;
        return size_t(k / seats) * rows + row_of_seat<E, policy>(a, uint32_t(k % seats));
    };
    over_rows<E, policy, typename N::Critic>(
        a, pupil.prepared + Prepared<E, policy>::critic, items, all,
        [&](uint64_t i) -> const float* {
            const size_t at = at_of(i);
            if (i < seen) return memory.obs + at * width;
            return is_cut(memory.flag[at]) ? memory.final_obs + at * width : nullptr;
        },
        [&](uint64_t i, const float* out) {
            (i < seen ? memory.value : memory.final_value)[at_of(i)] = out[0];
        });
}

}
