#pragma once
#include <learn/spec.h>
// Exponentials and logarithms of probabilities. A GPU has instructions for them that are wrong by about
// 1e-7 of the result, which is nothing beside what a sample's return varies by: two in place of twenty.

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
#else
NACELLE_INLINE float quick_exp(float x) { return exp(x); }
NACELLE_INLINE float quick_log(float x) { return log(x); }
#endif

}
