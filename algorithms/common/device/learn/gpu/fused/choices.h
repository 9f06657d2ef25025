#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/fused/rows.h>
// Choices of networks that a warp takes rows through, 16 at a time.

namespace learn {

// On tensor cores: the owners of rows come with their lanes.
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
// The agents twice: to choose for, then those that were cut short in the step before.
template <class E, int policy>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint64_t agents = a.policy[policy].agents;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view);
    const bool values_ends = a.step > 0 && Spec<policy>::kind == Kind::trained;
    over_rows<E, policy, typename C::N::Actor>(
        a, a.policy[policy].prepared, items, values_ends && C::N::shared ? 2 * agents : agents,
        [&](uint64_t i) {
            return i < agents ? C::obs_of(view, a, C::row_of(a, i))
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
            else if (values_ends) C::keep_cut(view, a, a.step - 1, row);
            C::keep_obs(view, a, row);
            C::choose(view, a, row, out);
        });
}
template <class E, int policy>
NACELLE_INLINE void close_rollout(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint64_t agents = a.policy[policy].agents;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view), last = size_t(a.steps - 1) * rows,
                 end = size_t(a.steps) * rows;
    const uint64_t mine = items.begin / 32 * warp_rows + items.begin % 32;
    if (items.begin % 32 < uint64_t(warp_rows) && mine < agents) {
        const size_t row = C::row_of(a, mine);
        const float* const obs = C::obs_of(view, a, row);
        for (size_t k = 0; k < C::width; ++k) memory.obs[(end + row) * C::width + k] = obs[k];
        if constexpr (!C::N::shared) C::keep_cut(view, a, a.steps - 1, row);
    }
    if constexpr (C::N::shared)
        over_rows<E, policy, typename C::N::Actor>(
            a, a.policy[policy].prepared, items, 2 * agents,
            [&](uint64_t i) {
                return i < agents ? C::obs_of(view, a, C::row_of(a, i))
                                  : C::cut_at(view, a, a.steps - 1, C::row_of(a, i - agents));
            },
            [&](uint64_t i, const float* out) {
                const size_t row = C::row_of(a, i < agents ? i : i - agents);
                (i < agents ? memory.value[end + row] : memory.final_value[last + row]) =
                    out[C::N::value_output];
            });
}

}
