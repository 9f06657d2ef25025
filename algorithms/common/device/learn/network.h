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
    static constexpr int widest_input() {
        int most = 0;
        for (int i = 0; i < count; ++i) most = width[i] > most ? width[i] : most;
        return most;
    }
    static constexpr int widest() {
        int most = 0;
        for (int i = 0; i <= count; ++i) most = width[i] > most ? width[i] : most;
        return most;
    }
};

// Rows of weights and of samples are padded to whole vectors of this many floats.
#if NACELLE_GPU
inline constexpr int lanes = 4;
#elif defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif
constexpr int whole_lanes(int width) { return (width + lanes - 1) / lanes * lanes; }
template <int width> inline constexpr int padded = whole_lanes(width);

// Where layer l begins among the packed weights: [in + 1][padded out] of each, the bias last. Gradients
// lie in the same order.
template <class L> struct Packed {
    template <int l> static constexpr int forward() {
        if constexpr (l == 0) return 0;
        else return forward<l - 1>() + (L::width[l - 1] + 1) * padded<L::width[l]>;
    }
    static constexpr int size = forward<L::count>();
    // The same weights turned, [out][padded in], for the way back: from the second layer on.
    template <int l> static constexpr int backward() {
        if constexpr (l <= 1) return 0;
        else return backward<l - 1>() + L::width[l] * padded<L::width[l - 1]>;
    }
    static constexpr int turned = backward<L::count>();

    // The packed place of parameter `index`.
    static constexpr int place(int index) {
        int l = 0, packed_before = 0;
        while (index >= L::before(l + 1)) {
            packed_before += (L::width[l] + 1) * whole_lanes(L::width[l + 1]);
            ++l;
        }
        const int at = index - L::before(l), in = L::width[l], out = L::width[l + 1];
        const int stride = whole_lanes(out);
        return at < in * out ? packed_before + at % in * stride + at / in
                             : packed_before + in * stride + (at - in * out);
    }
    // Its turned place, or -1 where it has none: biases and the first layer.
    static constexpr int turned_place(int index) {
        int l = 0, turned_before = 0;
        while (index >= L::before(l + 1)) {
            turned_before += l > 0 ? L::width[l + 1] * whole_lanes(L::width[l]) : 0;
            ++l;
        }
        const int at = index - L::before(l), in = L::width[l], out = L::width[l + 1];
        return l > 0 && at < in * out ? turned_before + at / in * whole_lanes(in) + at % in : -1;
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

// Where the gradient of a parameter lies in a slot.
template <class E, int policy> struct Place {
    using N = Networks<E, policy>;
    static NACELLE_INLINE int of(int index) {
        if constexpr (N::shared) return Packed<typename N::Actor>::place(index);
        else
            return index < N::Actor::parameters
                       ? Packed<typename N::Actor>::place(index)
                       : Packed<typename N::Actor>::size +
                             Packed<typename N::Critic>::place(index - N::Actor::parameters);
    }
    static constexpr int size =
        Packed<typename N::Actor>::size + (N::shared ? 0 : Packed<typename N::Critic>::size);
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
