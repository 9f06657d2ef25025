#pragma once
#include <nacelle/device/maths/math_turns.h>
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
// Only what can be copied byte by byte, so that no container of the host's mistakes it for its own.
template <class T>
requires(__is_trivially_copyable(T)) constexpr void swap(T& a, T& b) {
    const T held = a;
    a = b;
    b = held;
}
// v in 0 .. n-1 again after it left by less than n on either side.
constexpr int wrap(int v, int n) { return v < 0 ? v + n : v >= n ? v - n : v; }

inline float sin(float x) { return detail::sine<detail::strict>(x); }
inline float cos(float x) { return detail::cosine<detail::strict>(x); }
inline float tan(float x) { return detail::tangent<detail::strict>(x); }
inline float sqrt(float x) { return detail::where(x >= 0.0f, detail::square_root(x)); }

inline float exp(float x) {
    using namespace detail;
    const float bounded = min(max(-104.0f, x), 89.0f);    // NaN becomes a number here
    const float shifted = fused(bounded, 1.4426950408889634f, rounder), n = shifted - rounder;
    const float r = fused(n, -3.1946184945309415e-05f, fused(n, -0.693115234375f, bounded));
    const float tail =
        polynomial(r, 0.5000000014286223f, 0.16666666682534356f, 0.04166645680967788f,
                   0.008333310024225292f, 0.0013934541928270264f, 0.0001989198131397769f);
    const float small = fused(times(r, r), tail, r) + 1.0f;
    const int whole = int(n), half = whole >> 1;    // in two steps: the result may be subnormal
    const float result = times(times(small, power_of_two(half)), power_of_two(whole - half));
    return where(x == x, result);
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
    return where(x == x,
                 from_bits(bits_of(size < 0.625f ? near : far) | (bits_of(x) & 0x80000000u)));
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
    return detail::where(x == x, floorf(x));
#else
    return detail::where(x == x, __builtin_floorf(x));
#endif
}
// The remainder of x / y with the sign of x; exact on both backends.
inline float fmod(float x, float y) {
#if defined(__CUDACC_RTC__)
    const float rest = fmodf(x, y);
#else
    const float rest = __builtin_fmodf(x, y);
#endif
    return detail::where(rest == rest, rest);
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
    const double product = double(y) * log2, bounded = min(max(-160.0, product), 130.0);
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

// The same names for doubles would hide a slow double; convert by hand where it is meant.
double sin(double) = delete;
double cos(double) = delete;
double tan(double) = delete;
double exp(double) = delete;
double log(double) = delete;
double sqrt(double) = delete;
double tanh(double) = delete;

}
