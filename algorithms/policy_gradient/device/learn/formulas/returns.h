#pragma once
#include <learn/formulas/loss.h>
#include <learn/formulas/record.h>
#include <learn/sums/ranks.h>
#include <learn/sums/strips.h>
// From rewards to advantages: how large returns are, then what each choice was worth.

namespace learn {

// What returns have shown of rewards' size, with one more iteration's sums about the mean until now.
NACELLE_INLINE void settle_returns(const Arguments& a, const PolicyState& state, uint32_t agents,
                                   const Sums<2>& sums) {
    double* const carried = state.carried;
    Spread spread{carried[return_count], carried[return_mean], carried[return_squares]};
    const double samples = double(a.steps) * double(agents);
    spread.add(samples * double(rank_count), sums.at[0], sums.at[1], carried[return_mean]);
    carried[return_count] = spread.count;
    carried[return_mean] = spread.mean;
    carried[return_squares] = spread.squares;
    state.found[reward_scale] = state.scales_rewards ? 1.0 / root(max(spread.variance(), 1e-8))
                                                     : double(state.reward_factor);
}

// Where one row stands on the way back through its steps.
struct Backward {
    float next_value, next_target, carried, pending;
    bool waits = false;    // the next own turn is not known: it lies behind the rollout
};

// Generalised advantage estimation (Schulman and others, 2016), or V-trace (Espeholt and others, 2018)
// where the choices' probabilities have moved. Rewards between two turns of an agent's own belong to
// the first of them. False where what the choice led to is not known: values are learnt for an agent's own
// turns, so that one of a moment in which it waits would say nothing.
// Without branches: on a GPU the rows of a warp go the same way, whatever their flags say.
NACELLE_INLINE bool step_back(Backward& b, float reward, uint8_t flag, float value,
                              float final_value, float ratio, const float* dials, bool traced,
                              float& advantage, float& target) {
    const bool ends = (flag & (terminated | truncated)) != 0, acts = (flag & acted) != 0;
    const float end_value = is_cut(flag) ? final_value : 0.0f;
    const float next_value = ends ? end_value : b.next_value,
                next_target = ends ? end_value : b.next_target, carried = ends ? 0.0f : b.carried,
                pending = (ends ? 0.0f : b.pending) + reward;
    const bool waits = b.waits && !ends, known = acts && !waits;
    const float discount = dials[gamma];
    const float rho = traced ? min(ratio, dials[ratio_bound]) : 1.0f;
    const float trace = traced ? min(ratio, dials[trace_bound]) : 1.0f;
    const float delta = rho * (pending + discount * next_value - value);
    const float sum = delta + discount * dials[lambda] * trace * carried;
    const float led_to = traced ? rho * (pending + discount * next_target - value) : sum;
    advantage = known ? led_to : 0.0f;
    target = known ? value + sum : acts ? value : 0.0f;
    b.next_value = acts ? value : next_value;
    b.next_target = acts ? target : next_target;
    b.carried = known ? sum : acts ? 0.0f : carried;
    b.pending = acts ? 0.0f : pending;
    b.waits = waits && !acts;
    return known || !acts;
}

// Whether it is not this row's turn when the rollout ends.
template <class E, int policy> NACELLE_INLINE bool waits(const View<E>& view, uint32_t row) {
    using G = GroupOf<E, policy>;
    if constexpr (has_turn<E, G>)
        return (group_column<E, uint8_t, Role::turn, Spec<policy>::group>(view)[row] & 3) !=
               uint8_t(Turn::acts);
    else return false;
}
// A reward as advantages are found from it.
NACELLE_INLINE float scaled_reward(float reward, float scale, float most) {
    reward *= scale;
    return most > 0 ? clamp(reward, -most, most) : reward;
}
// One over the deviation, and the mean, of numbers of which these are the sums.
struct Moments {
    double mean, scale;
    NACELLE_INLINE Moments(double count, double sum, double squares) {
        mean = count > 0 ? sum / count : 0;
        const double variance = count > 0 ? max(squares / count - mean * mean, 0.0) : 1;
        scale = 1 / (root(variance) + 1e-8);
    }
};
// Of a step that counts: one, the advantage, its square, the target, its square, and how far the value was off, squared.
NACELLE_INLINE void settle_advantages(const PolicyState& state, const Sums<6>& sums) {
    const double* const sum = sums.at;
    const Moments moments(sum[0], sum[1], sum[2]);
    state.found[advantage_mean] = state.scales_advantages ? moments.mean : 0;
    state.found[advantage_scale] = state.scales_advantages ? moments.scale : 1;
    const double mean = sum[0] > 0 ? sum[3] / sum[0] : 0;
    const double spread = sum[0] > 0 ? sum[4] / sum[0] - mean * mean : 0;
    state.found[explained] = spread > 1e-12 ? 1 - sum[5] / sum[0] / spread : 0;
}

// What follows of a rank's own sums, or what it hands over of them.
template <int policy>
NACELLE_INLINE void end_returns(const Arguments& a, const PolicyState& state, const Sums<2>& sums) {
    if constexpr (hands_over) hand_over(sums, a, OfRanks::returns + 2 * uint64_t(policy));
    else settle_returns(a, state, learners<policy>(state), sums);
}
template <int policy>
NACELLE_INLINE void end_advantages(const Arguments& a, const PolicyState& state,
                                   const Sums<6>& sums) {
    if constexpr (hands_over) hand_over(sums, a, 6 * uint64_t(policy));
    else settle_advantages(state, sums);
}
// Once the sums of all ranks are there.
template <class E, int policy>
NACELLE_INLINE void scale_rewards_alike(const View<E>&, const Arguments& a, Items items) {
    if (items.begin == 0)
        settle_returns(a, a.policy[policy], learners<policy>(a.policy[policy]),
                       handed_over<2>(a, OfRanks::returns + 2 * uint64_t(policy)));
}
template <class E, int policy>
NACELLE_INLINE void scale_advantages_alike(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (items.begin == 0 && state.found[stopped] == 0)
        settle_advantages(state, handed_over<6>(a, 6 * uint64_t(policy)));
}

}
#if NACELLE_GPU
#include <learn/gpu/update/returns.h>
#else
#include <learn/cpu/returns.h>
#endif
