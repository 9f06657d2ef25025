#pragma once
#include <learn/formulas/returns.h>
// Passes over the steps of a strip of agents, one step after the other.

namespace learn {

// The discounted return of each agent goes on from iteration to iteration; its spread scales rewards.
template <class E, int policy>
NACELLE_INLINE void measure_returns(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float discount = state.dials[gamma];
    const double shift = state.carried[return_mean];
    over_strips<2>(
        items, learners<policy>(state), state.slots, [&](uint32_t first, int n, Sums<2>& sums) {
            float running[strip];
            uint32_t row[strip];
            for (int i = 0; i < n; ++i) {
                row[i] = learner_row<E, policy>(a, first + uint32_t(i));
                running[i] = memory.running[row[i]];
            }
            for (uint32_t t = 0; t < a.steps; ++t) {
                for (int i = 0; i < n; ++i) {
                    const size_t at = size_t(t) * rows + row[i];
                    running[i] = fused(running[i], discount, memory.reward[at]);
                    const double off = double(running[i]) - shift;
                    sums.at[0] += off;
                    sums.at[1] += off * off;
                    running[i] = memory.flag[at] & (terminated | truncated) ? 0.0f : running[i];
                }
            }
            for (int i = 0; i < n; ++i) memory.running[row[i]] = running[i];
        });
}
template <class E, int policy>
NACELLE_INLINE void scale_rewards(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (items.begin == 0)
        end_returns<policy>(a, state, sum_of_strips<2>(state.slots, learners<policy>(state)));
}

template <class E, int policy>
NACELLE_INLINE void find_advantages(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;    // nor was anything reviewed
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t rows = group_rows<E, policy>(view);
    const float scale = float(state.found[reward_scale]), most = state.most_reward;
    const bool traced = memory.ratio != nullptr, moved = traced && a.epoch > 0;
    float dials[dial_count];
    for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    over_strips<6>(
        items, learners<policy>(state), state.slots, [&](uint32_t first, int n, Sums<6>& sums) {
            Backward back[strip];
            for (int i = 0; i < n; ++i) {
                const uint32_t row = learner_row<E, policy>(a, first + uint32_t(i));
                const float value = memory.value[size_t(a.steps) * rows + row];
                back[i] = {value, value, 0, 0, waits<E, policy>(view, row)};
            }
            const auto backward = [&](uint32_t t, int i) {
                const size_t at = size_t(t) * rows + learner_row<E, policy>(a, first + uint32_t(i));
                const float value = memory.value[at];
                const uint8_t flag = memory.flag[at];
                float advantage, target;
                const bool known =
                    step_back(back[i], scaled_reward(memory.reward[at], scale, most), flag, value,
                              is_cut(flag) ? memory.final_value[at] : 0.0f,
                              moved ? memory.ratio[at] : 1.0f, dials, traced, advantage, target);
                memory.advantage[at] = advantage;
                memory.target[at] = target;
                if (!known) memory.flag[at] = flag | unsettled;
                if (!known || !(flag & acted)) return;
                const double error = double(target) - double(value);
                const double terms[6] = {1,
                                         advantage,
                                         double(advantage) * double(advantage),
                                         target,
                                         double(target) * double(target),
                                         error * error};
                for (int term = 0; term < 6; ++term) sums.at[term] += terms[term];
            };
            for (uint32_t t = a.steps; t-- > 0;)
                for (int i = 0; i < n; ++i) backward(t, i);
        });
}
template <class E, int policy>
NACELLE_INLINE void sum_advantages(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (items.begin == 0 && state.found[stopped] == 0)
        end_advantages<policy>(a, state, sum_of_strips<6>(state.slots, learners<policy>(state)));
}

}
