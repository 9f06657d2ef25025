#pragma once
#include <learn/activation.h>
#include <learn/heads.h>
// The layers of a network, and where their numbers lie among the parameters.

namespace learn {

template <int input, int output, Activation f, class Hidden> struct Layers;
template <int input, int output, Activation f, int... h>
struct Layers<input, output, f, Ints<h...>> {
    static constexpr Activation activation = f;
    static constexpr int in = input, out = output, count = sizeof...(h) + 1;
    static constexpr int width[count + 1] = {input, h..., output};

    // Parameters before layer l: weight [out][in] and bias [out] of each.
    static constexpr int before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += (width[i] + 1) * width[i + 1];
        return n;
    }
    static constexpr int parameters = before(count);
    static constexpr int widest() {
        int most = 0;
        for (int i = 0; i <= count; ++i) most = width[i] > most ? width[i] : most;
        return most;
    }
};

// The networks of a policy. One: choices and, behind them, the value. Two: the second one is the value's.
template <class E, int policy> struct Networks {
    using S = Spec<policy>;
    using H = Head<ChoiceOf<E, policy>, S>;
    static constexpr bool shared = S::shared;
    using Actor = Layers<width_of<E, policy>, H::outputs + (shared ? 1 : 0), S::activation,
                         typename S::Hidden>;
    using Critic = Layers<width_of<E, policy>, 1, S::activation, typename S::Hidden>;
    static constexpr int parameters = Actor::parameters + (shared ? 0 : Critic::parameters);
    static constexpr int value_output = H::outputs;
};

// Whether a parameter is the weight of an output that does not see its inputs: it stays zero.
template <class E, int policy> NACELLE_INLINE bool is_blind(int index) {
    using N = Networks<E, policy>;
    constexpr int last = N::Actor::count - 1, first = N::Actor::before(last),
                  in = N::Actor::width[last];
    const int at = index - first;
    return at >= N::H::first_blind * in && at < N::H::outputs * in;
}

// An observation's number as the networks see it.
inline constexpr float most_normal = 10;
NACELLE_INLINE float normal_of(float x, float mean, float scale) {
    return clamp((x - mean) * scale, -most_normal, most_normal);
}

}
