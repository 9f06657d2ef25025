#pragma once
#include <learn/layout/spec.h>
// Exponentials and logarithms of probabilities, and the tanh of activations. A GPU has instructions for them that are
// wrong by about 1e-7 of the result, which is nothing beside what a sample's return varies by: two in place of twenty.

namespace learn {

#if defined(__CUDACC_RTC__)
NACELLE_INLINE float quick_exp(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * 1.44269504f));
    return result;
}
NACELLE_INLINE float quick_log(float x) {
    float result;
    asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result * 0.693147181f;
}
// Wrong by less than 1e-6 of the result: near zero by its series, since there the exponential's digits cancel.
NACELLE_INLINE float quick_tanh(float x) {
    float part;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(quick_exp(2.0f * x) + 1.0f));
    const float square = x * x;
    const float series = fused(
        square, fused(square, fused(square, 62.0f / 2835, -17.0f / 315), 2.0f / 15), -1.0f / 3);
    return abs(x) < 0.25f ? fused(x * square, series, x) : fused(-2.0f, part, 1.0f);
}
// Of numbers that are rounded to bfloat16 next: wrong by less than 2^-10 of the result.
NACELLE_INLINE float rough_tanh(float x) {
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
NACELLE_INLINE float rough_logistic(float x) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(quick_exp(-x) + 1.0f));
    return result;
}
#else
NACELLE_INLINE float rough_tanh(float x) { return tanh(x); }
NACELLE_INLINE float rough_logistic(float x) { return 1.0f / (1.0f + exp(-x)); }
NACELLE_INLINE float quick_exp(float x) { return exp(x); }
NACELLE_INLINE float quick_log(float x) { return log(x); }
NACELLE_INLINE float quick_tanh(float x) { return tanh(x); }
#endif

}
