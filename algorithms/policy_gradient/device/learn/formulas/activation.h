#pragma once
#include <learn/formulas/quick.h>

namespace learn {

NACELLE_INLINE float logistic(float x) { return 0.5f * quick_tanh(0.5f * x) + 0.5f; }

// gelu is the form with tanh, which differs from the one with erf by less than 0.001.
template <Activation> struct Curve;
template <> struct Curve<Activation::tanh> {
    static constexpr bool needs_input = false;
    static NACELLE_INLINE float at(float x) { return quick_tanh(x); }
    static NACELLE_INLINE float slope(float, float y) { return 1.0f - y * y; }
};
template <> struct Curve<Activation::relu> {
    static constexpr bool needs_input = false;
    static NACELLE_INLINE float at(float x) { return max(x, 0.0f); }
    static NACELLE_INLINE float slope(float, float y) { return y > 0.0f ? 1.0f : 0.0f; }
};
template <> struct Curve<Activation::silu> {
    static constexpr bool needs_input = true;
    static NACELLE_INLINE float at(float x) { return x * logistic(x); }
    static NACELLE_INLINE float slope(float x, float) {
        const float g = logistic(x);
        return g * (1.0f + x * (1.0f - g));
    }
};
template <> struct Curve<Activation::gelu> {
    static constexpr bool needs_input = true;
    static constexpr float steep = 0.7978845608f, cubic = 0.044715f;    // sqrt(2 / pi)
    static NACELLE_INLINE float inner(float x) {
        return quick_tanh(steep * x * (1.0f + cubic * x * x));
    }
    static NACELLE_INLINE float at(float x) { return 0.5f * x * (1.0f + inner(x)); }
    static NACELLE_INLINE float slope(float x, float) {
        const float t = inner(x);
        return 0.5f * (1.0f + t) +
               0.5f * x * (1.0f - t * t) * steep * (1.0f + 3.0f * cubic * x * x);
    }
};

}
