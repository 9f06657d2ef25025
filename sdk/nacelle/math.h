#pragma once
#include <nacelle/platform.h>
// The maths of environments: inline, the same operations on both backends, and free of branches, so
// that a loop over environments vectorises. Every product that feeds a sum is an explicit fused
// multiply-add: no compiler is left a choice, and the bits are equal on a CPU and on a GPU.
// Coefficients are Chebyshev fits of the functions over the reduced ranges.

namespace nacelle {

inline constexpr float pi = 3.14159265358979f;

template <class T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <class T> constexpr T max(T a, T b) { return a < b ? b : a; }
template <class T> constexpr T clamp(T value, T low, T high) {
    return value < low ? low : value > high ? high : value;
}
template <class T> constexpr T abs(T value) { return value < T(0) ? T(-value) : value; }
template <class T> constexpr int sign(T value) { return (T(0) < value) - (value < T(0)); }
template <class T> constexpr void swap(T& a, T& b) {
    const T held = a;
    a = b;
    b = held;
}
// v in 0 .. n-1 again after it left by less than n on either side.
constexpr int wrap(int v, int n) { return v < 0 ? v + n : v >= n ? v - n : v; }

namespace detail {

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

inline constexpr float not_a_number = __builtin_bit_cast(float, 0x7fc00000u),
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

struct Quarter {
    float sine, cosine;
    uint32_t turns;
};

// Sine and cosine of x less a multiple of pi/2 (Cody and Waite, in three parts), and that multiple.
NACELLE_INLINE Quarter quarter(float x) {
    const float shifted = fused(x, 0.63661977236758f, rounder), n = shifted - rounder;
    float r = fused(n, -1.570796251296997f, x);
    r = fused(n, -7.549789415861596e-08f, r);
    r = fused(n, -5.390302858158119e-15f, r);
    const float z = times(r, r);
    const float sine = fused(times(r, z),
                             polynomial(z, -0.16666666663741367f, 0.00833333183062943f,
                                        -0.00019840063040804112f, 2.724686872287745e-06f),
                             r);
    const float cosine = fused(times(z, z),
                               polynomial(z, 0.04166666666422613f, -0.001388888763522796f,
                                          2.4800580601350126e-05f, -2.729840765238084e-07f),
                               fused(z, -0.5f, 1.0f));
    return {sine, cosine, bits_of(shifted)};
}
// Flips the sign where the bit is set.
NACELLE_INLINE float flip(float x, uint32_t bit) { return from_bits(bits_of(x) ^ bit << 31); }
// 2^n for n in -126 .. 127.
NACELLE_INLINE float power_of_two(int n) { return from_bits(uint32_t(n + 127) << 23); }

}

inline float sin(float x) {
    const auto [sine, cosine, turns] = detail::quarter(x);
    return detail::flip(turns & 1 ? cosine : sine, turns >> 1 & 1);
}
inline float cos(float x) {
    const auto [sine, cosine, turns] = detail::quarter(x);
    return detail::flip(turns & 1 ? sine : cosine, (turns + 1) >> 1 & 1);
}
inline float tan(float x) {
    const auto [sine, cosine, turns] = detail::quarter(x);
    return turns & 1 ? detail::divided(-cosine, sine) : detail::divided(sine, cosine);
}
inline float sqrt(float x) { return detail::square_root(x); }

inline float exp(float x) {
    using namespace detail;
    const float bounded = min(max(x, -104.0f), 89.0f);
    const float shifted = fused(bounded, 1.4426950408889634f, rounder), n = shifted - rounder;
    const float r = fused(n, -3.1946184945309415e-05f, fused(n, -0.693115234375f, bounded));
    const float tail =
        polynomial(r, 0.5000000014286223f, 0.16666666682534356f, 0.04166645680967788f,
                   0.008333310024225292f, 0.0013934541928270264f, 0.0001989198131397769f);
    const float small = fused(times(r, r), tail, r) + 1.0f;
    const int whole = int(n), half = whole >> 1;    // in two steps: the result may be subnormal
    const float result = times(times(small, power_of_two(half)), power_of_two(whole - half));
    return x == x ? result : x;
}

inline float log(float x) {
    using namespace detail;
    const bool tiny = x < 1.17549435e-38f;
    const uint32_t raw = bits_of(tiny ? times(x, 8388608.0f) : x);
    const int exponent =
        int(raw - 0x3f3504f3u) >> 23;    // so that the mantissa lies in sqrt(1/2) .. sqrt(2)
    const float f = from_bits(raw - (uint32_t(exponent) << 23)) - 1.0f,
                e = float(exponent - (tiny ? 23 : 0));
    const float z = times(f, f);
    float tail = polynomial(f, 0.33333331180030046f, -0.24999996957950882f, 0.200007157488921f,
                            -0.16667802319501254f, 0.1424905764569748f, -0.12425687331451106f,
                            0.1168541992348674f, -0.11479733846637635f, 0.06971611471451178f);
    tail = fused(e, 3.1946184945309415e-05f, times(times(f, z), tail));
    const float result = fused(e, 0.693115234375f, f + fused(z, -0.5f, tail));
    return x > 0.0f ? (x == infinity ? x : result) : x == 0.0f ? -infinity : not_a_number;
}

inline float tanh(float x) {
    using namespace detail;
    const float size = magnitude(x), z = times(x, x);
    const float near =
        fused(times(x, z),
              polynomial(z, -0.33333328944134255f, 0.1333276973697631f, -0.05385090957851203f,
                         0.0209971789990695f, -0.006096714165902247f),
              x);
    const float far = 1.0f - divided(2.0f, exp(size + size) + 1.0f);
    return from_bits(bits_of(size < 0.625f ? near : far) | (bits_of(x) & 0x80000000u));
}

inline float atan2(float y, float x) {
    using namespace detail;
    const float across = magnitude(x), up = magnitude(y);
    const float low = min(across, up), high = max(across, up);
    const float t = high == 0.0f ? 0.0f : low == high ? 1.0f : divided(low, high);
    const float z = times(t, t);
    float angle =
        fused(times(t, z),
              polynomial(z, -0.3333333308107325f, 0.19999949321141886f, -0.14284003794733482f,
                         0.11088261628734793f, -0.08931826777379753f, 0.07031914250026051f,
                         -0.048960514027031186f, 0.026305001110008577f, -0.009144629760565749f,
                         0.0014886919392991963f),
              t);
    angle = up > across ? 1.57079632679489f - angle : angle;
    angle = bits_of(x) >> 31 ? pi - angle : angle;
    angle = from_bits(bits_of(angle) | (bits_of(y) & 0x80000000u));
    return x == x && y == y ? angle : not_a_number;
}

inline float floor(float x) {
#if defined(__CUDACC_RTC__)
    return floorf(x);
#else
    return __builtin_floorf(x);
#endif
}
// The remainder of x / y with the sign of x; exact on both backends.
inline float fmod(float x, float y) {
#if defined(__CUDACC_RTC__)
    return fmodf(x, y);
#else
    return __builtin_fmodf(x, y);
#endif
}

// x to the power of y; in double inside, because an error in the logarithm grows with y.
inline float pow(float x, float y) {
    using namespace detail;
    const bool odd = magnitude(y) < 16777216.0f && floor(y) == y && floor(y * 0.5f) * 2.0f != y;
    const bool whole = floor(y) == y || magnitude(y) == infinity;
    const double size = double(magnitude(x));
    const uint64_t raw = bits_of(size);
    const int64_t exponent = int64_t(raw - 0x3fe6a09e667f3bcdull) >> 52;
    const double m = from_bits(raw - (uint64_t(exponent) << 52)), s = (m - 1.0) / (m + 1.0),
                 z = s * s;
    const double log2 =
        fused(s,
              polynomial(z, 2.8853900817779268, 0.9617966939259908, 0.5770780163448896,
                         0.4121985859831414, 0.3205985197907093, 0.2623351709751523,
                         0.22089127416155055, 0.21388590913269973),
              double(exponent));
    const double product = double(y) * log2, bounded = min(max(product, -160.0), 130.0);
    const double shifted = bounded + 6755399441055744.0, n = shifted - 6755399441055744.0,
                 r = bounded - n;
    const double small = polynomial(
        r, 1.0, 0.69314718055995, 0.24022650695910097, 0.05550410866444772, 0.009618129107606888,
        0.0013333558230164974, 0.0001540353044173605, 1.5252657260200837e-05, 1.321544258792169e-06,
        1.0208690299958306e-07, 7.072585949269223e-09);
    const float power = float(small * from_bits(uint64_t(int64_t(n) + 1023) << 52));
    float result = odd && bits_of(x) >> 31 ? -power : power;
    if (x == 0.0f)
        result = y > 0.0f ? (odd ? x : 0.0f) : (odd && bits_of(x) >> 31 ? -infinity : infinity);
    if (magnitude(x) == infinity)
        result =
            y < 0.0f ? (odd && x < 0.0f ? -0.0f : 0.0f) : (odd && x < 0.0f ? -infinity : infinity);
    if (magnitude(y) == infinity)
        result = magnitude(x) == 1.0f                  ? 1.0f
                 : (magnitude(x) > 1.0f) == (y > 0.0f) ? infinity
                                                       : 0.0f;
    if (x < 0.0f && x != -infinity && !whole) result = not_a_number;
    if (x != x || y != y) result = not_a_number;
    return y == 0.0f || x == 1.0f ? 1.0f : result;
}

// The same names for doubles and whole numbers would hide a slow double; convert by hand where meant.
double sin(double) = delete;
double cos(double) = delete;
double tan(double) = delete;
double exp(double) = delete;
double log(double) = delete;
double sqrt(double) = delete;
double tanh(double) = delete;

}
