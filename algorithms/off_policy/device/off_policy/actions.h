#pragma once
#include <off_policy/matrix.h>
// What a policy of real numbers does at the observations of a minibatch and at those that followed, and the gradient of its
// loss along that.

namespace off_policy {

// Number k of an action, as a policy with deviations draws it.
struct Draw {
    float action, sigma, log_density;
    bool bounded;    // whether the logarithm of the deviation was cut

    NACELLE_INLINE Draw(const Arguments& a, const Matrix& out, size_t row, uint32_t k,
                        float noise) {
        const float low = a.replay.least_log_deviation, high = a.replay.most_log_deviation,
                    given = number(out, row, a.replay.ring.parts + k),
                    log_sigma = clamp(given, low, high);
        sigma = exp(log_sigma);
        const float u = number(out, row, k) + sigma * noise, turned = -2.0f * u;
        action = tanh(u);
        bounded = given < low || given > high;
        // log(1 - tanh(u)^2) = 2 (log 2 - u - log(1 + exp(-2 u)))
        const float soft = max(turned, 0.0f) + log(1.0f + exp(-abs(turned)));
        log_density =
            -0.5f * noise * noise - log_sigma - 0.918938533f - 2.0f * (0.693147181f - u - soft);
    }
};
NACELLE_INLINE float noise_of(const Arguments& a, uint32_t which, size_t row, uint32_t k) {
    const replay::Batch& batch = a.replay.batch;
    const size_t parts = a.replay.ring.parts;
    return batch.noise[(which * size_t(batch.size) + row) * parts + k];
}

// Actions at the observations that followed, and at those of the samples. An item is a sample.
template <class E>
NACELLE_INLINE void sample_actions(const View<E>&, const Arguments& a, Items items) {
    const size_t size = a.replay.batch.size;
    const uint32_t width = a.replay.ring.width, parts = a.replay.ring.parts;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(size)); ++i) {
        float then = 0, now = 0;
        for (uint32_t k = 0; k < parts; ++k) {
            if (a.method == replay::Method::sac) {
                const Draw first(a, a.then_choices, i, k, noise_of(a, 0, i, k)),
                    second(a, a.now_choices, i, k, noise_of(a, 1, i, k));
                put(a.then_valued, i, width + k, first.action);
                put(a.proposed, i, width + k, second.action);
                then += first.log_density;
                now += second.log_density;
                continue;
            }
            float next = tanh(number(a.then_choices, i, k));
            if (a.target_noise > 0) {
                const float apart = clamp(a.target_noise * noise_of(a, 0, i, k),
                                          -a.target_noise_bound, a.target_noise_bound);
                next = clamp(next + apart, -1.0f, 1.0f);
            }
            put(a.then_valued, i, width + k, next);
            put(a.proposed, i, width + k, tanh(number(a.now_choices, i, k)));
        }
        a.log_density[i] = then;
        a.log_density[size + i] = now;
    }
}

NACELLE_INLINE float temperature_of(const Arguments& a) {
    return a.tunes ? exp(a.temperature[0]) : a.replay.dials[replay::temperature];
}
// Slopes of the policy's loss along the values of what it does now. An item is a sample.
template <class E>
NACELLE_INLINE void policy_losses(const View<E>&, const Arguments& a, Items items) {
    if (is_closed(a.gates, of_policy)) return;
    const uint32_t size = a.replay.batch.size;
    const bool soft = a.method == replay::Method::sac;
    const float temperature = soft ? temperature_of(a) : 0.0f,
                mean = 1.0f / samples_of_all(a.replay);
    learn::over_strips<policy_tallies>(
        items, size, a.policy_tallies, [&](uint32_t first, int n, auto& sums) {
            for (uint32_t i = first; i < first + uint32_t(n); ++i) {
                const float own = number(a.now_values[0], i, 0),
                            other = soft ? number(a.now_values[1], i, 0) : own,
                            density = soft ? a.log_density[size + i] : 0.0f,
                            worth = min(own, other);
                // Equal ones share it.
                const float share = !soft || own < other ? 1.0f : own > other ? 0.0f : 0.5f;
                put(a.value_slopes[0], i, 0, -mean * share);
                if (a.networks > 1) put(a.value_slopes[1], i, 0, -mean * (1.0f - share));
                sums.at[policy_loss] += double(temperature * density - worth);
                sums.at[proposed_value] += double(worth);
                sums.at[entropy] -= double(density);
            }
        });
}
// From slopes along the action to those along the policy's outputs. An item is a sample.
template <class E>
NACELLE_INLINE void action_slopes(const View<E>&, const Arguments& a, Items items) {
    if (is_closed(a.gates, of_policy)) return;
    const uint32_t size = a.replay.batch.size, width = a.replay.ring.width,
                   parts = a.replay.ring.parts;
    const bool soft = a.method == replay::Method::sac;
    const float share = soft ? temperature_of(a) / samples_of_all(a.replay) : 0.0f;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(size)); ++i)
        for (uint32_t k = 0; k < parts; ++k) {
            float along = number(a.back[0], i, width + k);
            if (soft) along += number(a.back[1], i, width + k);
            if (!soft) {
                const float action = tanh(number(a.now_choices, i, k));
                put(a.policy_slopes, i, k, along * (1.0f - action * action));
                continue;
            }
            const float noise = noise_of(a, 1, i, k);
            const Draw drawn(a, a.now_choices, i, k, noise);
            const float slope =
                along * (1.0f - drawn.action * drawn.action) + 2.0f * share * drawn.action;
            put(a.policy_slopes, i, k, slope);
            put(a.policy_slopes, i, parts + k,
                drawn.bounded ? 0.0f : slope * drawn.sigma * noise - share);
        }
}

}
