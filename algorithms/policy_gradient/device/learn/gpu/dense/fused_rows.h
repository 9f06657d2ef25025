#pragma once
#include <learn/gpu/dense/inference.h>
#include <learn/gpu/rollout/choices.h>
#include <learn/gpu/rollout/wide_choices.h>
#include <learn/gpu/tile/prepared.h>
// Passes of tensor cores over rows that lie in memory: a warp takes 16 at a time, whose owners come with their lanes. An
// item is a thread.

namespace learn {

// fn(number of the row, its outputs) on the lane that owns it, for every row below `count`; from(number) is
// where its numbers lie, or null.
template <class E, int policy, class L, class From, class Fn>
NACELLE_INLINE void over_rows(const Arguments& a, const float* prepared, Items items,
                              uint64_t count, From&& from, Fn&& fn) {
    constexpr bool in_chunks = layout_of<L>.in_chunks;
    using Stage = Either<in_chunks, WideStage<L>, RowStage<L>>;
    __shared__ Stage stages[block_threads / 32];
    const uint64_t first = items.begin / 32 * warp_rows;
    if (first >= count) return;    // the whole warp
    Stage& stage = stages[threadIdx.x / 32];
    const Memory& memory = a.memory[Spec<policy>::group];
    const int lane = warp_lane();
    if constexpr (!in_chunks) {
        stage.clear();
        __syncwarp();
    }
    const bool mine = lane < warp_rows && first + uint64_t(lane) < count;
    using Row = decltype(from(first));
    const Row obs = mine ? from(first + uint64_t(lane)) : Row{};
    if (!__ballot_sync(~0u, bool(obs))) return;
    const TilesInMemory<L::planes> weights{own_words(prepared)};
    const float* const bias = prepared + layout_of<L>.bias_start;
    if constexpr (in_chunks) stage.forward(obs, memory, weights, bias);
    else {
        if (obs) stage.put(obs, memory);
        stage.forward(weights, bias);
    }
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
// over(count, from, to), where from(i) is where an agent stands in step a.step, and to(i, outputs) keeps the values of
// networks that have both and calls fn(row, outputs). Where agents were cut short in the step before, their ends follow
// behind the last warp's rows.
template <class E, int policy, class Over, class Fn>
NACELLE_INLINE void with_standing(const View<E>& view, const Arguments& a, Over&& over, Fn&& fn) {
    using C = Chooser<E, policy>;
    const uint64_t agents = a.policy[policy].agents,
                   ends = (agents + warp_rows - 1) / warp_rows * warp_rows;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view);
    const bool values_cut = C::N::shared && a.step > 0 && Spec<policy>::kind == Kind::trained;
    over(
        values_cut ? ends + agents : agents,
        [&](uint64_t i) {
            using Row = decltype(C::standing(view, a, 0));
            if (i < agents) return C::standing(view, a, C::row_of(a, i));
            return i < ends ? Row{} : Row{C::cut_at(view, a, a.step - 1, C::row_of(a, i - ends))};
        },
        [&](uint64_t i, const float* out) {
            const size_t row = C::row_of(a, i < agents ? i : i - ends);
            if (i >= agents) {
                memory.final_value[size_t(a.step - 1) * rows + row] = out[C::N::value_output];
                return;
            }
            if constexpr (C::N::shared)
                memory.value[size_t(a.step) * rows + row] = out[C::N::value_output];
            fn(row, out);
        });
}
template <class E, int policy, class Fn>
NACELLE_INLINE void over_standing(const View<E>& view, const Arguments& a, Items items, Fn&& fn) {
    with_standing<E, policy>(
        view, a,
        [&](uint64_t count, auto&& from, auto&& to) {
            over_rows<E, policy, typename Networks<E, policy>::Actor>(a, a.policy[policy].prepared,
                                                                      items, count, from, to);
        },
        fn);
}
// What the agents see in step a.step where `keeps`, and where the step before cut episodes short. Many numbers of a row
// are copied by a warp together.
template <class E, int policy>
NACELLE_INLINE void keep_standing(const View<E>& view, const Arguments& a, Items items,
                                  bool keeps) {
    using C = Chooser<E, policy>;
    const uint64_t mine = items.begin / 32 * warp_rows + items.begin % 32;
    const bool there = items.begin % 32 < uint64_t(warp_rows) && mine < a.policy[policy].agents,
               cuts = !C::N::shared && a.step > 0 && Spec<policy>::kind == Kind::trained;
    const size_t row = there ? C::row_of(a, mine) : 0, rows = group_rows<E, policy>(view),
                 before = a.step > 0 ? a.step - 1 : 0;
    const Memory& memory = a.memory[C::group];
    const float *const obs = there && keeps ? C::obs_of(view, a, row) : nullptr,
                       *const cut =
                           there && cuts ? C::cut_at(view, a, uint32_t(before), row) : nullptr;
    const size_t to = size_t(a.step) * rows + row, cut_to = before * rows + row;
    if constexpr (layout_of<typename C::N::Actor>.in_chunks) {
        if (keeps) keep_rows<int(C::width)>(memory, obs, to, false);
        if (cuts) keep_rows<int(C::width)>(memory, cut, cut_to, true);
    } else {
        if (obs) keep_row<int(C::width)>(memory, to, false, obs);
        if (cut) keep_row<int(C::width)>(memory, cut_to, true, cut);
    }
}
template <class E, int policy>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const auto chosen = [&](size_t row, const float* out) { C::choose(view, a, row, out); };
    if constexpr (Spec<policy>::sums_seen) {
        const uint64_t agents = a.policy[policy].agents;
        WideChoices<E, policy, typename C::N::Actor> choices(a, items);
        if constexpr (C::keeps_obs || !C::N::shared)
            choices.each(agents, [&](uint64_t its) {
                const uint64_t lane = its * 32 + uint64_t(warp_lane());
                keep_standing<E, policy>(view, a, {lane, lane + 1}, C::keeps_obs);
            });
        with_standing<E, policy>(
            view, a,
            [&](uint64_t count, auto&& from, auto&& to) {
                if constexpr (keeps_pairs) {
                    // What a team's step has kept first, then what lies in the environment's arrays.
                    if constexpr (is_team<E>)
                        if (a.step > 0)
                            choices.over_pairs(
                                agents, [&](uint64_t i) { return from(i).kept; }, to);
                    choices.over_rows(
                        count, agents, [&](uint64_t i) { return from(i).floats; }, to);
                } else choices.over_rows(count, agents, from, to);
            },
            chosen);
        choices.store(agents);
    } else {
        keep_standing<E, policy>(view, a, items, C::keeps_obs);
        over_standing<E, policy>(view, a, items, chosen);
    }
}
// Behind the last step, a.step being their number.
template <class E, int policy>
NACELLE_INLINE void close_rollout(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    keep_standing<E, policy>(view, a, items, true);
    if constexpr (C::N::shared)
        over_standing<E, policy>(view, a, items, [](size_t, const float*) {});
}

template <class E, int policy>
NACELLE_INLINE void review(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    const auto at_of = [&](uint64_t i) { return place_of<E, policy>(view, a, uint32_t(i)); };
    if (a.policy[policy].found[stopped] != 0) return;
    over_rows<E, policy, typename N::Actor>(
        a, a.policy[policy].prepared, items, samples_of<E, policy>(view, a),
        [&](uint64_t i) { return seen_at<E, policy>(a, at_of(i)); },
        [&](uint64_t i, const float* out) { review_row<E, policy>(a, at_of(i), out); });
}

// The values of everything that a rollout saw, and of where episodes were cut short, by a network of its
// own: step after step of the policy's agents, then the ends.
template <class E, int policy>
NACELLE_INLINE void find_values(const View<E>& view, const Arguments& a, Items items) {
    using N = Networks<E, policy>;
    using L = Either<N::separate, typename N::Critic, typename N::Actor>;
    constexpr int network = N::separate ? Prepared<E, policy>::critic : 0;
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const uint64_t agents = learners<policy>(state), seen = uint64_t(a.steps + 1) * agents,
                   all = seen + uint64_t(a.steps) * agents;
    const auto at_of = [&](uint64_t i) {
        const uint64_t k = i < seen ? i : i - seen;
        return size_t(k / agents) * rows + learner_row<E, policy>(a, uint32_t(k % agents));
    };
    over_rows<E, policy, L>(
        a, state.prepared + network, items, all,
        [&](uint64_t i) {
            const size_t at = at_of(i);
            const bool there = i < seen || is_cut(memory.flag[at]);
            return there ? seen_at<E, policy>(a, at, i >= seen) : SeenRow<E, policy>{};
        },
        [&](uint64_t i, const float* out) {
            (i < seen ? memory.value : memory.final_value)[at_of(i)] = out[0];
        });
}

}
