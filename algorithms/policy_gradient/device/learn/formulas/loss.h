#pragma once
#include <learn/formulas/four.h>
#include <learn/formulas/quick.h>
// The losses of one sample and their slopes.

namespace learn {

// What a sample's rollout found.
struct Experience {
    float log_probability, value, advantage, target;
};
// Its advantage beside the others of its batch.
NACELLE_INLINE Experience made_even(Experience then, float mean, float scale) {
    then.advantage = (then.advantage - mean) * scale;
    return then;
}
NACELLE_INLINE Experience even_experience(const Memory& memory, const PolicyState& state,
                                          size_t at) {
    return made_even(
        {memory.log_probability[at], memory.value[at], memory.advantage[at], memory.target[at]},
        float(state.found[advantage_mean]), float(state.found[advantage_scale]));
}
// Where all four lie side by side: a random place costs a GPU as much for one number as for four.
NACELLE_INLINE Experience packed_experience(const Memory& memory, size_t at) {
    const Four all = four_at(memory.experience + 4 * at);
    return {all.at[0], all.at[1], all.at[2], all.at[3]};
}
NACELLE_INLINE void pack_experience(const Memory& memory, size_t at, const Experience& e) {
    *reinterpret_cast<Four*>(memory.experience +
                             4 * at) = {{e.log_probability, e.value, e.advantage, e.target}};
}
// The choices that were open to it, or null.
template <class E, class G>
NACELLE_INLINE const uint8_t* kept_mask(const Memory& memory, size_t at) {
    if constexpr (has_mask<E, G>) return memory.mask + at * size_t(choices_in<ActionOf<E, G>>);
    else return nullptr;
}
// What the networks say of it now.
struct Evaluated {
    float log_probability, entropy, value;
};
struct Losses {
    float policy, value, kl, clipped;
    float by_probability, by_entropy, by_value;    // slopes of the whole loss
};

// How much more likely a choice is now than it was then.
NACELLE_INLINE float log_ratio(float now, float then) { return clamp(now - then, -20.0f, 20.0f); }

// The mean of exp(x) - 1 - x over the old policy's choices is the divergence of the new one from it.
// Most are so small that the exponential would drown in rounding.
NACELLE_INLINE float divergence(float x) {
    const float near = x * x * fused(x, fused(x, 1.0f / 24, 1.0f / 6), 0.5f);
    return abs(x) < 0.1f ? near : quick_exp(x) - 1.0f - x;
}

template <Loss form>
NACELLE_INLINE Losses losses_of(const Experience& then, const Evaluated& now, const float* dials) {
    Losses l;
    const float change = log_ratio(now.log_probability, then.log_probability),
                ratio = quick_exp(change);
    l.kl = divergence(change);
    if constexpr (form == Loss::clipped) {
        const float bound = dials[clip], held = clamp(ratio, 1.0f - bound, 1.0f + bound);
        const float free = ratio * then.advantage, bounded = held * then.advantage;
        l.policy = -min(free, bounded);
        l.clipped = held != ratio ? 1.0f : 0.0f;
        l.by_probability = free <= bounded ? -free : 0.0f;
    } else {
        l.policy = -now.log_probability * then.advantage;
        l.clipped = 0;
        l.by_probability = -then.advantage;
    }
    const float off = now.value - then.target, reach = dials[value_clip];
    l.value = 0.5f * off * off;
    l.by_value = off;
    if (reach > 0) {
        const float moved = now.value - then.value, kept = clamp(moved, -reach, reach);
        const float held = then.value + kept - then.target;
        if (held * held > off * off) {
            l.value = 0.5f * held * held;
            l.by_value = kept == moved ? held : 0.0f;
        }
    }
    l.by_value *= dials[value_weight];
    l.by_entropy = -dials[entropy_weight];
    return l;
}

// Adds a sample to the tally of an update: what is told of its choice, of its value, or of both.
template <bool choice, bool value, class Number>
NACELLE_INLINE void count_losses(Number* tally, const Evaluated& now, const Losses& l) {
    if constexpr (choice) {
        tally[weight] += 1;
        tally[policy_loss] += Number(l.policy);
        tally[entropy] += Number(now.entropy);
        tally[kl] += Number(l.kl);
        tally[clipped] += Number(l.clipped);
    }
    if constexpr (value) tally[value_loss] += Number(l.value);
}

}
