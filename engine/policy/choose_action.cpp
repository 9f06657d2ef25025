#include "engine/policy/choose_action.h"

namespace nacelle {
namespace {

bool is_open(const uint8_t* mask, size_t choice) { return !mask || mask[choice]; }

// A draw lies where [-1, 1] is the whole range.
float stretched(const PolicyDescription& description, const PolicyPart& part, float draw) {
    const float unit = description.squash ? tanh(draw) : clamp(draw, -1.0f, 1.0f);
    const float value = part.low + (part.high - part.low) * 0.5f * (unit + 1.0f);
    return clamp(value, part.low, part.high);
}

size_t best_choice(const RowOutputs& out, size_t first, size_t choices, const uint8_t* mask) {
    float top = -detail::infinity;
    size_t chosen = 0;
    for (size_t i = 0; i < choices; ++i) {
        const float score = out[first + i];
        const bool better = is_open(mask, i) && score > top;
        top = better ? score : top;
        chosen = better ? i : chosen;
    }
    return chosen;
}

// By the softmax over the scores of what is open.
size_t drawn_choice(const RowOutputs& out, size_t first, size_t choices, const uint8_t* mask,
                    float drawn) {
    const float top = out[first + best_choice(out, first, choices, mask)];
    const auto weight = [&](size_t i) {
        return is_open(mask, i) ? exp(out[first + i] - top) : 0.0f;
    };
    float sum = 0;
    for (size_t i = 0; i < choices; ++i) sum += weight(i);
    float left = drawn * sum;
    size_t chosen = 0;    // the last one that is open, if rounding passes them all
    for (size_t i = 0; i < choices; ++i) {
        if (!is_open(mask, i)) continue;
        chosen = i;
        left -= weight(i);
        if (left < 0) break;
    }
    return chosen;
}

float normal_of(RowDice& dice) {
    const float radius = sqrt(-2.0f * log(1.0f - uniform_from(dice.noise())));
    return radius * cos(2.0f * pi * uniform_from(dice.noise()));
}

// fn(part's number, part, its first output, its mask) for each part.
template <class Fn>
void each_part(const PolicyDescription& description, const uint8_t* mask, Fn&& fn) {
    size_t first = 0, base = 0;
    for (size_t p = 0; p < description.actions.size(); ++p) {
        const PolicyPart& part = description.actions[p];
        fn(p, part, first, mask ? mask + base : nullptr);
        first += part.choices ? part.choices : 1;
        base += part.choices;
    }
}

}

void choose_best(const PolicyDescription& description, const RowOutputs& out, const uint8_t* mask,
                 float* action) {
    each_part(description, mask,
              [&](size_t p, const PolicyPart& part, size_t first, const uint8_t* its) {
                  action[p] = part.choices ? float(best_choice(out, first, part.choices, its))
                                           : stretched(description, part, out[first]);
              });
}

void choose_drawn(const PolicyDescription& description, const RowOutputs& out, const uint8_t* mask,
                  RowDice& dice, float* action) {
    size_t deviation = description.choices() + description.reals();
    each_part(
        description, mask, [&](size_t p, const PolicyPart& part, size_t first, const uint8_t* its) {
            if (part.choices) {
                action[p] =
                    float(drawn_choice(out, first, part.choices, its, uniform_from(dice.bits())));
                return;
            }
            const float log_sigma = clamp(out[deviation++], description.least_log_deviation,
                                          description.most_log_deviation);
            action[p] = stretched(description, part, out[first] + exp(log_sigma) * normal_of(dice));
        });
}

}
