#pragma once
#include <learn/formulas/chooser.h>
#include <learn/formulas/loss.h>
// Choices for rows that lie in memory: step by step in a rollout of one launch a step, or for an evaluation.

namespace learn {

// Who acts at random has no network: an item is a agent.
template <class E, int policy>
NACELLE_INLINE void act_randomly(const View<E>& view, const Arguments& a, Items items) {
    if (items.begin >= a.policy[policy].agents) return;
    act_on<E, policy>(view, a, Chooser<E, policy>::row_of(a, items.begin), nullptr);
}
template <class E, int policy>
NACELLE_INLINE void choose_randomly(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    if (items.begin >= a.policy[policy].agents) return;
    const size_t row = C::row_of(a, items.begin);
    C::keep_obs(view, a, row);
    C::choose(view, a, row, nullptr);
}

// What a network's outputs say now of a sample: how its choice's probability moved, and its value where one network
// has both.
template <class E, int policy>
NACELLE_INLINE void review_row(const Arguments& a, size_t at, const float* out) {
    using N = Networks<E, policy>;
    using H = typename N::H;
    const Memory& memory = a.memory[Spec<policy>::group];
    float log_probability, entropy_now;
    H::evaluate(out, kept_mask<E, GroupOf<E, policy>>(memory, at), memory.choice + at * H::parts,
                log_probability, entropy_now);
    memory.ratio[at] = exp(log_ratio(log_probability, memory.log_probability[at]));
    if constexpr (N::shared) memory.value[at] = out[N::value_output];
}

}
