#pragma once
#include <learn/formulas/quick.h>
// What a network's outputs mean for an action: a score for every choice of a discrete part; a mean and
// the logarithm of a deviation for a continuous one, which acts in [-1, 1]. The outputs are in this
// order: scores and means part by part, then all the logarithms.
//
// A choice is kept as one float a part, as it was drawn: bounds come on the way to the environment.

namespace learn {

inline constexpr float half_log_two_pi = 0.918938533f, log_two = 0.693147181f;

NACELLE_INLINE bool open(const uint8_t* mask, int choice) { return !mask || mask[choice]; }

// log(1 + exp(x))
NACELLE_INLINE float softplus(float x) {
    return max(x, 0.0f) + quick_log(1.0f + quick_exp(-abs(x)));
}
// What squashing by tanh does to the logarithm of a density: log(1 - tanh(x)^2), without loss for large x.
NACELLE_INLINE float log_squash(float x) { return 2.0f * (log_two - x - softplus(-2.0f * x)); }

// The scores of one discrete part.
struct Scores {
    float top, sum, log_sum;    // the sum of all chances, that of the top one being one
    NACELLE_INLINE float log_probability(float score) const { return score - top - log_sum; }
};
template <int choices> NACELLE_INLINE Scores scores_of(const float* out, const uint8_t* mask) {
    float top = -infinity, sum = 0;
    for (int i = 0; i < choices; ++i) top = open(mask, i) ? max(top, out[i]) : top;
    for (int i = 0; i < choices; ++i) sum += open(mask, i) ? quick_exp(out[i] - top) : 0.0f;
    if (top == -infinity)
        return {out[0], 1.0f, 0.0f};    // nothing is open: the first choice, for certain
    return {top, sum, quick_log(sum)};
}

template <class A, class S> struct Head {
    static constexpr int parts = sum_over<A, CountEach>(), choices = choices_in<A>;
    template <class T> static constexpr bool is_real = form_of<T> == Form::continuous;
    struct CountReal {
        template <class T> static constexpr int of() { return form_of<T> == Form::continuous; }
    };
    static constexpr int reals = sum_over<A, CountReal>();
    static constexpr int first_deviation = choices + reals, outputs = choices + 2 * reals;
    // These outputs do not see the observation: deviations that are parameters of their own.
    static constexpr int first_blind = S::deviation == Deviation::free ? first_deviation : outputs;

    // fn(Part, part, its first output, its first choice in the mask, its deviation's output)
    template <class Fn> static NACELLE_INLINE void each_part(Fn&& fn) {
        A shape;
        int part = 0, out = 0, base = 0, deviation = first_deviation;
        for_each_element(shape, [&](auto, int, auto& f) {
            using T = bare<decltype(f)>;
            fn(Types<T>{}, part, out, base, deviation);
            ++part;
            if constexpr (form_of<T> == Form::discrete) {
                out += T::choices;
                base += T::choices;
            } else {
                ++out;
                ++deviation;
            }
        });
    }
    static NACELLE_INLINE float log_deviation(float raw) {
        return clamp(raw, least_log_deviation, most_log_deviation);
    }
    static NACELLE_INLINE const uint8_t* part_mask(const uint8_t* mask, int base) {
        return mask ? mask + base : nullptr;
    }

    // Draws a choice; dice.bits() gives 32 random bits, dice.noise() those of a deviation. Returns the logarithm of its probability or density.
    template <class Dice>
    static NACELLE_INLINE float draw(const float* out, const uint8_t* mask, Dice& dice,
                                     float* choice) {
        float log_probability = 0;
        each_part([&](auto type, int part, int first, int base, int deviation) {
            log_probability +=
                draw_part(type, out, part_mask(mask, base), dice, choice[part], first, deviation);
        });
        return log_probability;
    }
    template <class T, class Dice>
    static NACELLE_INLINE float draw_part(Types<T>, const float* out, const uint8_t* mask,
                                          Dice& dice, float& choice, int first, int deviation) {
        if constexpr (is_real<T>) {
            const float log_sigma = log_deviation(out[deviation]);
            const float radius = sqrt(-2.0f * quick_log(1.0f - uniform_from(dice.noise())));
            const float z = radius * cos(2.0f * pi * uniform_from(dice.noise()));
            choice = out[first] + quick_exp(log_sigma) * z;
            float log_probability = -0.5f * z * z - log_sigma - half_log_two_pi;
            if (S::squashed) log_probability -= log_squash(choice);
            return log_probability;
        } else {
            const Scores scores = scores_of<T::choices>(out + first, mask);
            float left = uniform_from(dice.bits()) * scores.sum;
            int chosen = 0;
            float score = out[first];    // of the choice: an index would put the scores in memory
            bool found = false;
            for (int i = 0; i < T::choices; ++i) {
                const float weight = open(mask, i) ? quick_exp(out[first + i] - scores.top) : 0.0f;
                const bool here = !found && open(mask, i);
                // The last one that is open, if rounding passes them all.
                chosen = here ? i : chosen;
                score = here ? out[first + i] : score;
                found = found || (here && left < weight);
                left -= weight;
            }
            choice = float(chosen);
            return scores.log_probability(score);
        }
    }
    // Every choice that is open is as likely as another.
    template <class Dice>
    static NACELLE_INLINE void uniform(const uint8_t* mask, Dice& dice, float* choice) {
        each_part([&](auto type, int part, int, int base, int) {
            choice[part] = uniform_part(type, part_mask(mask, base), dice);
        });
    }
    template <class T, class Dice>
    static NACELLE_INLINE float uniform_part(Types<T>, const uint8_t* mask, Dice& dice) {
        if constexpr (is_real<T>) return 2.0f * uniform_from(dice.bits()) - 1.0f;
        else {
            int allowed = 0, chosen = 0;
            for (int i = 0; i < T::choices; ++i) allowed += open(mask, i);
            int skip = below_from(dice.bits(), max(allowed, 1));
            for (int i = 0; i < T::choices; ++i) {
                const bool here = open(mask, i) && skip == 0;
                chosen = here ? i : chosen;
                skip -= open(mask, i);
            }
            return float(chosen);
        }
    }
    // The most probable choice.
    static NACELLE_INLINE void best(const float* out, const uint8_t* mask, float* choice) {
        each_part([&](auto type, int part, int first, int base, int) {
            choice[part] = best_part(type, out + first, part_mask(mask, base));
        });
    }
    template <class T>
    static NACELLE_INLINE float best_part(Types<T>, const float* out, const uint8_t* mask) {
        if constexpr (is_real<T>) return out[0];
        else {
            float top = -infinity;
            int chosen = 0;
            for (int i = 0; i < T::choices; ++i) {
                const bool better = open(mask, i) && out[i] > top;
                top = better ? out[i] : top;
                chosen = better ? i : chosen;
            }
            return float(chosen);
        }
    }
    // What the environment gets.
    static NACELLE_INLINE void act(const float* choice, A& action) {
        int part = 0;
        for_each_element(action, [&](auto, int, auto& f) { act_part(choice[part++], f); });
    }
    template <class T> static NACELLE_INLINE void act_part(float choice, T& part) {
        if constexpr (is_real<T>) {
            const float unit = S::squashed ? tanh(choice) : clamp(choice, -1.0f, 1.0f);
            part.value = clamp(T::low + (T::high - T::low) * 0.5f * (unit + 1.0f), T::low, T::high);
        } else part.value = int(choice);
    }

    // The logarithm of a kept choice's probability now, and the entropy (of what is drawn before squashing).
    static NACELLE_INLINE void evaluate(const float* out, const uint8_t* mask, const float* choice,
                                        float& log_probability, float& entropy) {
        log_probability = entropy = 0;
        each_part([&](auto type, int part, int first, int base, int deviation) {
            judge_part(type, out, part_mask(mask, base), choice[part], first, deviation,
                       log_probability, entropy);
        });
    }
    template <class T>
    static NACELLE_INLINE void judge_part(Types<T>, const float* out, const uint8_t* mask,
                                          float choice, int first, int deviation,
                                          float& log_probability, float& entropy) {
        if constexpr (is_real<T>) {
            const float log_sigma = log_deviation(out[deviation]);
            const float z = (choice - out[first]) * quick_exp(-log_sigma);
            log_probability += -0.5f * z * z - log_sigma - half_log_two_pi;
            if (S::squashed) log_probability -= log_squash(choice);
            entropy += log_sigma + half_log_two_pi + 0.5f;
        } else {
            const Scores scores = scores_of<T::choices>(out + first, mask);
            for (int i = 0; i < T::choices; ++i) {
                const float log_p = scores.log_probability(out[first + i]);
                entropy -= open(mask, i) ? quick_exp(log_p) * log_p : 0.0f;
                log_probability += i == int(choice) ? log_p : 0.0f;
            }
        }
    }
    // The slope of `by_probability` * log_probability + `by_entropy` * entropy along every output.
    static NACELLE_INLINE void slopes(const float* out, const uint8_t* mask, const float* choice,
                                      float by_probability, float by_entropy, float* slope) {
        each_part([&](auto type, int part, int first, int base, int deviation) {
            slope_part(type, out, part_mask(mask, base), choice[part], first, deviation,
                       by_probability, by_entropy, slope);
        });
    }
    template <class T>
    static NACELLE_INLINE void slope_part(Types<T>, const float* out, const uint8_t* mask,
                                          float choice, int first, int deviation,
                                          float by_probability, float by_entropy, float* slope) {
        if constexpr (is_real<T>) {
            const float log_sigma = log_deviation(out[deviation]), inverse = quick_exp(-log_sigma);
            const float z = (choice - out[first]) * inverse;
            slope[first] = by_probability * z * inverse;
            const bool bounded = out[deviation] != log_sigma;
            slope[deviation] = bounded ? 0.0f : by_probability * (z * z - 1.0f) + by_entropy;
        } else {
            const Scores scores = scores_of<T::choices>(out + first, mask);
            float entropy = 0;
            for (int i = 0; i < T::choices; ++i) {
                const float log_p = scores.log_probability(out[first + i]);
                entropy -= open(mask, i) ? quick_exp(log_p) * log_p : 0.0f;
            }
            for (int i = 0; i < T::choices; ++i) {
                const float log_p = scores.log_probability(out[first + i]), p = quick_exp(log_p);
                const float taken = i == int(choice) ? 1.0f : 0.0f;
                slope[first + i] = open(mask, i) ? by_probability * (taken - p) -
                                                       by_entropy * p * (log_p + entropy)
                                                 : 0.0f;
            }
        }
    }
};

}
