#pragma once
#include <learn/sums/ranks.h>
// From the slots' gradients to new weights.

namespace learn {

NACELLE_INLINE float scheduled(const Schedule& s, float progress) {
    const float x = clamp(progress, 0.0f, 1.0f);
    if (s.form == Schedule::linear) return s.from + (s.to - s.from) * x;
    if (s.form == Schedule::cosine) return s.to + (s.from - s.to) * 0.5f * (1.0f + cos(pi * x));
    if (s.form == Schedule::exponential) return s.from * exp(log(s.to / s.from) * x);
    return s.from;
}

// The start of an iteration; an item is a dial, and a number of what the iteration finds out.
template <class E> NACELLE_INLINE void begin(const View<E>& view, const Arguments& a, Items items) {
    static_assert(int(dial_count) <= block_threads && int(tally_count) <= int(dial_count));
    const float progress = progress_at(view.head, a.iteration[0] * a.steps);
    for_each_network<E>([&]<int policy>() {
        const PolicyState& state = a.policy[policy];
        if (Spec<policy>::kind != Kind::trained) return;
        for (uint64_t i = items.begin; i < min(items.end, uint64_t(dial_count)); ++i) {
            state.dials[i] = scheduled(state.schedules[i], progress);
            if (i < uint64_t(tally_count)) state.sums[i] = 0;
            if (i == 0) state.found[stopped] = state.found[too_far] = state.found[update_count] = 0;
        }
    });
}

// What a minibatch told of its samples, and whether it is followed.
NACELLE_INLINE void judge(const PolicyState& state, const Sums<tally_count>& tally) {
    // All that is needed is read before anything is written: a GPU's thread waits for memory once.
    double sums[tally_count], carry[carried_count];
    float dials[dial_count];
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) sums[k] = state.sums[k];
    NACELLE_UNROLL for (int k = 0; k < carried_count; ++k) carry[k] = state.carried[k];
    NACELLE_UNROLL for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    const double made = state.found[update_count];
    for (int k = 0; k < tally_count; ++k) state.sums[k] = sums[k] + tally.at[k];
    const double most = double(dials[target_kl]);
    if (most > 0 && tally.at[weight] > 0 && tally.at[kl] / tally.at[weight] > most) {
        state.found[too_far] = 1;
        return;
    }
    state.found[update_count] = made + 1;
    const bool first = carry[updates] == 0;
    state.carried[updates] = carry[updates] + 1;
    state.carried[beta1_power] = (first ? 1.0 : carry[beta1_power]) * double(dials[beta1]);
    state.carried[beta2_power] = (first ? 1.0 : carry[beta2_power]) * double(dials[beta2]);
}
// What a gradient that is so long is multiplied by.
NACELLE_INLINE double bounded_step(double longest, double norm) {
    return longest > 0 && norm > longest ? longest / norm : 1;
}
// Adam (Kingma and Ba, 2015), with the decay of weights apart from the gradient (Loshchilov and
// Hutter, 2019).
struct AdamStep {
    float rate, first_left, second_left, keep1, keep2, least, decay;

    NACELLE_INLINE explicit AdamStep(const PolicyState& state)
        : rate(state.dials[learning_rate]),
          first_left(float(1.0 / (1.0 - state.carried[beta1_power]))),
          second_left(float(1.0 / (1.0 - state.carried[beta2_power]))),
          keep1(state.dials[beta1]),
          keep2(state.dials[beta2]),
          least(state.dials[epsilon]),
          decay(rate * state.dials[weight_decay]) {}
    // The weight behind the step.
    NACELLE_INLINE float operator()(float w, float g, float& m, float& v) const {
        m = keep1 * m + (1.0f - keep1) * g;
        v = keep2 * v + (1.0f - keep2) * g * g;
        return w - decay * w - rate * (m * first_left) / (sqrt(v * second_left) + least);
    }
};

}
#if NACELLE_GPU
#include <learn/gpu/update/optimiser.h>
#else
#include <learn/cpu/optimiser.h>
#endif
