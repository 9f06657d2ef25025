#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/fused/inference.h>
#include <learn/gpu/prepared.h>
// Passes of tensor cores over rows that lie in memory: a warp takes 16 at a time, whose owners come with their lanes. An
// item is a thread.

namespace learn {

// fn(number of the row, its outputs) on the lane that owns it, for every row below `count`; from(number) is
// where its numbers lie, or null.
template <class E, int policy, class L, class From, class Fn>
NACELLE_INLINE void over_rows(const Arguments& a, const float* prepared, Items items,
                              uint64_t count, From&& from, Fn&& fn) {
    __shared__ RowStage<L> stages[block_threads / 32];
    const uint64_t first = items.begin / 32 * warp_rows;
    if (first >= count) return;    // the whole warp
    RowStage<L>& stage = stages[threadIdx.x / 32];
    const Memory& memory = a.memory[Spec<policy>::group];
    const int lane = warp_lane();
    stage.clear();
    __syncwarp();
    const bool mine = lane < warp_rows && first + uint64_t(lane) < count;
    const float* const obs = mine ? from(first + uint64_t(lane)) : nullptr;
    if (!__ballot_sync(~0u, obs != nullptr)) return;
    if (obs) stage.put(obs, memory);
    stage.forward(TilesInMemory<L::planes>{own_words(prepared)},
                  prepared + layout_of<L>.bias_start);
    if (obs) fn(first + uint64_t(lane), stage.outputs());
}

template <class E, int policy>
NACELLE_INLINE void act(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    over_rows<E, policy, typename C::N::Actor>(
        a, a.policy[policy].prepared, items, a.policy[policy].agents,
        [&](uint64_t agent) { return C::obs_of(view, a, C::row_of(a, agent)); },
        [&](uint64_t agent, const float* out) {
            act_on<E, policy>(view, a, C::row_of(a, agent), out);
        });
}
// fn(row, outputs) for where the agents stand in step a.step; where one network has both, values are kept, and those
// that were cut short in the step before follow for theirs.
template <class E, int policy, class Fn>
NACELLE_INLINE void over_standing(const View<E>& view, const Arguments& a, Items items, Fn&& fn) {
    using C = Chooser<E, policy>;
    const uint64_t agents = a.policy[policy].agents;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view);
    const bool values_cut = C::N::shared && a.step > 0 && Spec<policy>::kind == Kind::trained;
    over_rows<E, policy, typename C::N::Actor>(
        a, a.policy[policy].prepared, items, values_cut ? 2 * agents : agents,
        [&](uint64_t i) {
            return i < agents ? C::standing(view, a, C::row_of(a, i))
                              : C::cut_at(view, a, a.step - 1, C::row_of(a, i - agents));
        },
        [&](uint64_t i, const float* out) {
            const size_t row = C::row_of(a, i < agents ? i : i - agents);
            if (i >= agents) {
                memory.final_value[size_t(a.step - 1) * rows + row] = out[C::N::value_output];
                return;
            }
            if constexpr (C::N::shared)
                memory.value[size_t(a.step) * rows + row] = out[C::N::value_output];
            fn(row, out);
        });
}
template <class E, int policy>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    over_standing<E, policy>(view, a, items, [&](size_t row, const float* out) {
        if (!C::N::shared && a.step > 0 && Spec<policy>::kind == Kind::trained)
            C::keep_cut(view, a, a.step - 1, row);
        C::keep_obs(view, a, row);
        C::choose(view, a, row, out);
    });
}
// Behind the last step, a.step being their number.
template <class E, int policy>
NACELLE_INLINE void close_rollout(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint64_t mine = items.begin / 32 * warp_rows + items.begin % 32;
    if (items.begin % 32 < uint64_t(warp_rows) && mine < a.policy[policy].agents) {
        const size_t row = C::row_of(a, mine);
        const float* const obs = C::obs_of(view, a, row);
        float* const to = a.memory[C::group].obs +
                          (size_t(a.step) * group_rows<E, policy>(view) + row) * C::width;
        for (size_t k = 0; k < C::width; ++k) to[k] = obs[k];
        if constexpr (!C::N::shared) C::keep_cut(view, a, a.step - 1, row);
    }
    if constexpr (C::N::shared)
        over_standing<E, policy>(view, a, items, [](size_t, const float*) {});
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
