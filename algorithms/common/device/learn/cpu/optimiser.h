#pragma once
#include <learn/optimiser.h>

namespace learn {

// The sum of each parameter's gradient over the slots, and of its square over a block of them. Of several ranks each hands
// over its own sum, and its tallies.
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    using Here = Place<E, policy>;
    constexpr int parameters = Networks<E, policy>::parameters;
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const float one =
        among_ranks ? 1.0f
                    : one_over(sum_of<1>(state.tallies + weight, state.parts, tally_count).at[0]);
    if (among_ranks && items.begin == 0) hand_over_tallies<E, policy>(state);
    for (int block = int(items.begin / block_threads); block < int(items.end / block_threads);
         ++block) {
        double squares = 0;
        for (int i = block * block_threads; i < min((block + 1) * block_threads, parameters); ++i) {
            float sum = 0;
            if constexpr (Spec<policy>::streamed) sum = state.total[i];    // is summed already
            else {
                const float* const part = state.gradient + Here::of(i);
                for (uint32_t slot = 0; slot < state.parts; ++slot)
                    sum += part[size_t(slot) * Here::size];
            }
            sum = is_blind<E, policy>(i) ? 0.0f : sum * one;
            state.total[i] = sum;
            squares += double(sum) * double(sum);
        }
        state.norms[block] = squares;
    }
}
// The mean gradient from the sum over all ranks.
template <class E, int policy>
NACELLE_INLINE void scale_total(const View<E>&, const Arguments& a, Items items) {
    constexpr int parameters = Networks<E, policy>::parameters;
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const float one = one_over(tally_of_ranks<E, policy>(state).at[weight]);
    for (int block = int(items.begin / block_threads); block < int(items.end / block_threads);
         ++block) {
        double squares = 0;
        for (int i = block * block_threads; i < min((block + 1) * block_threads, parameters); ++i) {
            state.total[i] *= one;
            squares += double(state.total[i]) * double(state.total[i]);
        }
        state.norms[block] = squares;
    }
}
// Whether this update is made, and how long its step is.
template <class E, int policy>
NACELLE_INLINE void decide(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (items.begin != 0 || state.found[stopped] != 0) return;
    judge(state, among_ranks ? tally_of_ranks<E, policy>(state)
                             : sum_of<tally_count>(state.tallies, state.parts));
    state.found[stopped] = state.found[too_far];
    if (state.found[stopped] != 0) return;
    const uint32_t norms = blocks_of(uint32_t(Networks<E, policy>::parameters));
    const double norm = root(sum_of<1>(state.norms, norms).at[0]);
    state.found[gradient_norm] = norm;
    state.found[step_scale] = bounded_step(double(state.dials[most_norm]), norm);
}
template <class E, int policy>
NACELLE_INLINE void adam(const View<E>&, const Arguments& a, Items items) {
    constexpr uint64_t parameters = uint64_t(Networks<E, policy>::parameters);
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const float scale = float(state.found[step_scale]);
    const AdamStep step(state);
    for (uint64_t i = items.begin; i < min(items.end, parameters); ++i)
        state.weights[i] = step(state.weights[i], state.total[i] * scale, state.moment[i],
                                state.moment[parameters + i]);
}

}
