#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/fused/inference.h>
#include <learn/gpu/prepared.h>
// Passes of tensor cores over rows that lie in memory: a warp takes 16 at a time. An item is a thread.

namespace learn {

// fn(number of the row, its outputs) on the lane that owns it, for every row below `count`; from(number) is
// where its numbers lie, or null.
template <class E, int policy, class L, class From, class Fn>
NACELLE_INLINE void over_rows(const Arguments& a, const float* prepared, Items items,
                              uint64_t count, From&& from, Fn&& fn) {
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;
    __shared__ RowStage<L> stages[block_threads / 32];
    const uint64_t first = items.begin / 32 * warp_rows;
    if (first >= count) return;    // the whole warp
    RowStage<L>& stage = stages[threadIdx.x / 32];
    const Memory& memory = a.memory[Spec<policy>::group];
    const int lane = warp_lane();
    W::clear(stage);
    __syncwarp();
    const bool mine = lane < warp_rows && first + uint64_t(lane) < count;
    const float* const obs = mine ? from(first + uint64_t(lane)) : nullptr;
    if (!__ballot_sync(~0u, obs != nullptr)) return;
    if (obs) W::put(stage, lane, obs, memory);
    const TilesInMemory<F::planes> weights{W::words(prepared)};
    forward_rows<L>(stage, weights, prepared + F::bias_start);
    if (obs) fn(first + uint64_t(lane), stage.out + lane * RowStage<L>::pitch_out);
}

template <class E, int policy>
NACELLE_INLINE void review(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    constexpr size_t width = size_t(width_of<E, policy>);
    const Memory& memory = a.memory[Spec<policy>::group];
    const auto at_of = [&](uint64_t i) { return place_of<E, policy>(view, a, uint32_t(i)); };
    if (a.policy[policy].found[stopped] != 0) return;
    over_rows<E, policy, typename N::Actor>(
        a, a.policy[policy].prepared, items, samples_of<E, policy>(view, a),
        [&](uint64_t i) { return memory.obs + at_of(i) * width; },
        [&](uint64_t i, const float* out) { review_row<E, policy>(a, at_of(i), out); });
}

// The values of everything that a rollout saw, and of where episodes were cut short, by a network of its
// own: step after step of the policy's agents, then the ends.
template <class E, int policy>
NACELLE_INLINE void find_values(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    constexpr size_t width = size_t(width_of<E, policy>);
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const uint64_t agents = state.agents, seen = uint64_t(a.steps + 1) * agents,
                   all = seen + uint64_t(a.steps) * agents;
    const auto at_of = [&](uint64_t i) {
        const uint64_t k = i < seen ? i : i - seen;
        return size_t(k / agents) * rows + row_of_agent<E, policy>(a, uint32_t(k % agents));
    };
    over_rows<E, policy, typename N::Critic>(
        a, state.prepared + Prepared<E, policy>::critic, items, all,
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
