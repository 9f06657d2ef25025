#pragma once
#include <nacelle/random.h>
// What a trained policy's outputs become: the action of a row. A CPU and a GPU compile this text.

namespace nacelle {

// A part of an action: one of `choices`, or a real number from `low` to `high` where there are none.
struct ActionRange {
    uint32_t choices = 0;
    float low = 0, high = 0;
};

// What the outputs mean: a score for each choice of a discrete part and a mean for a continuous one, part by part;
// then, where the policy draws, the logarithms of the continuous parts' standard deviations.
struct ActionForm {
    const ActionRange* parts;
    uint32_t count;         // of parts
    uint32_t choices;       // of all parts
    uint32_t deviations;    // the first logarithm's place among the outputs
    bool squash;            // tanh bends a continuous part into its range, which else cuts it
    float least_log_deviation, most_log_deviation;
};

// A row's outputs: number k lies at first[k * stride].
struct RowOutputs {
    const float* first;
    size_t stride;
    NACELLE_INLINE float operator[](size_t k) const { return first[k * stride]; }
};

// The random numbers of a row's choice at one step; those of noise stay the same for some steps.
class RowDice final {
public:
    NACELLE_INLINE RowDice(uint64_t seed, uint64_t step, uint32_t row, uint64_t noise_steps)
        : fresh_(seed, Domain::policy, step, row),
          held_(seed, Domain::policy, step / noise_steps, row, 1),
          holds_(noise_steps > 1) {}
    NACELLE_INLINE uint32_t bits() { return fresh_.bits(); }
    NACELLE_INLINE uint32_t noise() { return holds_ ? held_.bits() : fresh_.bits(); }

private:
    Rng fresh_, held_;
    bool holds_;
};

namespace detail {

NACELLE_INLINE bool is_open(const uint8_t* mask, uint32_t choice) { return !mask || mask[choice]; }

// A draw lies where [-1, 1] is the whole range.
NACELLE_INLINE float stretched(const ActionForm& form, const ActionRange& part, float draw) {
    const float unit = form.squash ? tanh(draw) : clamp(draw, -1.0f, 1.0f);
    const float value = part.low + (part.high - part.low) * 0.5f * (unit + 1.0f);
    return clamp(value, part.low, part.high);
}

// Where none is open it is the first one, as in training.
NACELLE_INLINE uint32_t best_choice(const RowOutputs& out, uint32_t first, uint32_t choices,
                                    const uint8_t* mask) {
    float top = -infinity;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < choices; ++i) {
        const float score = out[first + i];
        const bool better = is_open(mask, i) && score > top;
        top = better ? score : top;
        chosen = better ? i : chosen;
    }
    return chosen;
}

// By the softmax over the scores of what is open.
NACELLE_INLINE uint32_t drawn_choice(const RowOutputs& out, uint32_t first, uint32_t choices,
                                     const uint8_t* mask, float drawn) {
    const float top = out[first + best_choice(out, first, choices, mask)];
    const auto weight = [&](uint32_t i) {
        return is_open(mask, i) ? exp(out[first + i] - top) : 0.0f;
    };
    float sum = 0;
    for (uint32_t i = 0; i < choices; ++i) sum += weight(i);
    float left = drawn * sum;
    uint32_t chosen = 0;    // the last one that is open, if rounding passes them all
    for (uint32_t i = 0; i < choices; ++i) {
        if (!is_open(mask, i)) continue;
        chosen = i;
        left -= weight(i);
        if (left < 0) break;
    }
    return chosen;
}

NACELLE_INLINE float normal_of(RowDice& dice) {
    const float radius = sqrt(-2.0f * log(1.0f - uniform_from(dice.noise())));
    return radius * cos(2.0f * pi * uniform_from(dice.noise()));
}

// fn(part's number, part, its first output, its mask) for each part.
template <class Fn>
NACELLE_INLINE void each_part(const ActionForm& form, const uint8_t* mask, Fn&& fn) {
    uint32_t first = 0, base = 0;
    for (uint32_t p = 0; p < form.count; ++p) {
        const ActionRange part = form.parts[p];
        fn(p, part, first, mask ? mask + base : nullptr);
        first += part.choices ? part.choices : 1;
        base += part.choices;
    }
}

}

// The most probable action of a row, a float for each part. `mask` has a byte for each choice, or is null: all are
// open.
NACELLE_INLINE void best_action(const ActionForm& form, const RowOutputs& out, const uint8_t* mask,
                                float* action) {
    using namespace detail;
    each_part(form, mask,
              [&](uint32_t p, const ActionRange& part, uint32_t first, const uint8_t* its) {
                  action[p] = part.choices ? float(best_choice(out, first, part.choices, its))
                                           : stretched(form, part, out[first]);
              });
}

// An action as it is drawn in training.
NACELLE_INLINE void drawn_action(const ActionForm& form, const RowOutputs& out, const uint8_t* mask,
                                 RowDice& dice, float* action) {
    using namespace detail;
    uint32_t deviation = form.deviations;
    each_part(
        form, mask, [&](uint32_t p, const ActionRange& part, uint32_t first, const uint8_t* its) {
            if (part.choices) {
                action[p] =
                    float(drawn_choice(out, first, part.choices, its, uniform_from(dice.bits())));
                return;
            }
            const float log_sigma =
                clamp(out[deviation++], form.least_log_deviation, form.most_log_deviation);
            action[p] = stretched(form, part, out[first] + exp(log_sigma) * normal_of(dice));
        });
}

}
