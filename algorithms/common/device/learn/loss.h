#pragma once
#include <learn/spec.h>
// The losses of one sample and their slopes.

namespace learn {

// What a sample's rollout found.
struct Experience {
    float log_odds, value, advantage, target;
};
// What the networks say of it now.
struct Opinion {
    float log_odds, entropy, value;
};
struct Losses {
    float policy, value, kl, clipped;
    float by_odds, by_entropy, by_value;    // slopes of the whole loss
};

// The mean of exp(x) - 1 - x over the old policy's choices is the divergence of the new one from it.
NACELLE_INLINE float divergence(float x) { return exp(x) - 1.0f - x; }

template <Loss form>
NACELLE_INLINE Losses losses_of(const Experience& then, const Opinion& now, const float* dials) {
    Losses l;
    const float change = clamp(now.log_odds - then.log_odds, -20.0f, 20.0f), ratio = exp(change);
    l.kl = divergence(change);
    if constexpr (form == Loss::clipped) {
        const float bound = dials[clip], held = clamp(ratio, 1.0f - bound, 1.0f + bound);
        const float free = ratio * then.advantage, bounded = held * then.advantage;
        l.policy = -min(free, bounded);
        l.clipped = held != ratio ? 1.0f : 0.0f;
        l.by_odds = free <= bounded ? -free : 0.0f;
    } else {
        l.policy = -now.log_odds * then.advantage;
        l.clipped = 0;
        l.by_odds = -then.advantage;
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

}
