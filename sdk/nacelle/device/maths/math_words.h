#pragma once
#include <nacelle/platform.h>
// What the maths is written in: operations that no compiler may fuse, split or reorder.

namespace nacelle::detail {

#if defined(__CUDACC_RTC__)
NACELLE_INLINE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
NACELLE_INLINE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
NACELLE_INLINE float times(float a, float b) {
    return __fmul_rn(a, b);
}    // never fused with a sum
NACELLE_INLINE float divided(float a, float b) {
    return __fdiv_rn(a, b);
}    // whatever the options say
NACELLE_INLINE uint32_t bits_of(float x) { return __float_as_uint(x); }
NACELLE_INLINE float from_bits(uint32_t x) { return __uint_as_float(x); }
NACELLE_INLINE uint64_t bits_of(double x) { return uint64_t(__double_as_longlong(x)); }
NACELLE_INLINE double from_bits(uint64_t x) { return __longlong_as_double(int64_t(x)); }
NACELLE_INLINE float square_root(float x) { return __fsqrt_rn(x); }
NACELLE_INLINE float magnitude(float x) { return fabsf(x); }
#else
NACELLE_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
NACELLE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
NACELLE_INLINE float times(float a, float b) { return a * b; }
NACELLE_INLINE float divided(float a, float b) { return a / b; }
NACELLE_INLINE uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
NACELLE_INLINE float from_bits(uint32_t x) { return __builtin_bit_cast(float, x); }
NACELLE_INLINE uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
NACELLE_INLINE double from_bits(uint64_t x) { return __builtin_bit_cast(double, x); }
NACELLE_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
NACELLE_INLINE float magnitude(float x) { return __builtin_fabsf(x); }
#endif

inline constexpr float not_a_number = __builtin_bit_cast(float, 0xffffffffu),
                       infinity = __builtin_bit_cast(float, 0x7f800000u);

// a + b*x + c*x*x + ... , coefficients from the lowest power.
NACELLE_INLINE float polynomial(float, float a) { return a; }
template <class... C> NACELLE_INLINE float polynomial(float x, float a, C... rest) {
    return fused(polynomial(x, rest...), x, a);
}
NACELLE_INLINE double polynomial(double, double a) { return a; }
template <class... C> NACELLE_INLINE double polynomial(double x, double a, C... rest) {
    return fused(polynomial(x, rest...), x, a);
}

// Rounds to the nearest integer by adding 1.5 * 2^23: the low bits of the sum hold it.
inline constexpr float rounder = 12582912.0f;

// Flips the sign where the bit is set.
NACELLE_INLINE float flip(float x, uint32_t bit) { return from_bits(bits_of(x) ^ bit << 31); }
// 2^n for n in -126 .. 127.
NACELLE_INLINE float power_of_two(int n) { return from_bits(uint32_t(n + 127) << 23); }
// The value, or the one NaN that both backends agree on: a GPU's own has other bits.
NACELLE_INLINE float where(bool defined, float value) { return defined ? value : not_a_number; }

}
