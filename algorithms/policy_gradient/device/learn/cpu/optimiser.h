#pragma once
#include <learn/formulas/optimiser.h>

namespace learn {

// A block of parameters' gradients: of each the sum over the slots of each shard, and over shards. What is wide is summed for
// each already. Slot after slot, so that no sum waits for the one before it; of a small minibatch most slots have nothing.
template <class E, int policy>
NACELLE_INLINE void sum_slots(const PolicyState& state, int first, int count, float* sum) {
    using Here = Place<E, policy>;
    TreeSum<float, shards> tree[block_threads];
    for (uint32_t shard = 0; shard < shards; ++shard) {
        if constexpr (Spec<policy>::streamed) {
            const float* const its = gradient_of_shard<E, policy>(state, shard) + first;
            for (int i = 0; i < count; ++i) sum[i] = its[i];
        } else {
            const uint32_t slots = state.parts / shards;
            for (int i = 0; i < count; ++i) sum[i] = 0;
            for (uint64_t slot = shard * slots; slot < (shard + 1) * slots; ++slot) {
                if (state.tallies[slot * tally_count + weight] == 0) continue;
                const float* const its = state.gradient + slot * uint64_t(Here::size);
                for (int i = 0; i < count; ++i) sum[i] += its[Here::of(first + i)];
            }
        }
        for (int i = 0; i < count; ++i) tree[i].add(sum[i]);
    }
    for (int i = 0; i < count; ++i) sum[i] = tree[i].sum();
}
// The mean gradient, and the sum of its squares over a block of parameters. Of several ranks each hands over its own sum,
// and its tallies.
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    constexpr int parameters = Networks<E, policy>::parameters;
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const float one =
        among_ranks ? 1.0f
                    : one_over(sum_of<1>(state.tallies + weight, state.parts, tally_count).at[0]);
    if (among_ranks && items.begin == 0) hand_over_tallies<E, policy>(a);
    for (int block = int(items.begin / block_threads); block < int(items.end / block_threads);
         ++block) {
        double squares = 0;
        const int first = block * block_threads, end = min(first + block_threads, parameters);
        float sum[block_threads];
        sum_slots<E, policy>(state, first, end - first, sum);
        for (int i = first; i < end; ++i) {
            const float mean = is_blind<E, policy>(i) ? 0.0f : sum[i - first] * one;
            hand_over_gradient<E, policy>(a, uint64_t(i), mean);
            squares += double(mean) * double(mean);
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
            const float mean = gradient_of_ranks<E, policy>(state, uint64_t(i)) * one;
            state.total[i] = mean;
            squares += double(mean) * double(mean);
        }
        state.norms[block] = squares;
    }
}
// Whether this update is made, and how long its step is.
template <class E, int policy>
NACELLE_INLINE void decide(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (items.begin != 0 || state.found[stopped] != 0) return;
    judge(state, among_ranks ? tally_of_ranks<E, policy>(state) : tally_of_slots<policy>(state));
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
