#pragma once
#include <nacelle/device/maths/math_words.h>
// Sine, cosine and tangent: an argument less a multiple of pi/2, then polynomials of the rest.
//
// Near arguments take four fused multiply-adds. Far ones need 2/pi to more than 200 bits, whose
// window a CPU must compute for every lane, since its loop has no branches: a fifth of a CartPole
// step (AMD EPYC, one core, November 2026). So only a strict program has them; elsewhere their
// result is NaN, which is seen at once, where a wrong number would not be.

namespace nacelle::detail {

#if defined(NACELLE_STRICT)
inline constexpr bool strict = true;
#else
inline constexpr bool strict = false;
#endif

// pi/2 in three parts, each cut off, so that -0 stays -0 in the subtractions.
inline constexpr float half_pi[] = {1.570796251296997f, 7.549789415861596e-08f,
                                    5.390302858158119e-15f};
inline constexpr float near_bound = 131072.0f;    // beyond it a float has no hundredths

// What is left is high + low, and how many quarter turns were taken off, modulo 4.
struct Quarter {
    float high, low;
    uint32_t turns;
};

// Cody and Waite with pi/2 in three floats. The first step is exact: both sides are multiples of
// the last bit of pi/2's first part, and the difference is below 1. `low` is for the tangent alone.
template <bool pair> NACELLE_INLINE Quarter near_quarter(float x) {
    const float shifted = fused(x, 0.63661977236758f, rounder), n = shifted - rounder;
    const float first = fused(n, -half_pi[0], x);
    if constexpr (!pair) {
        const float second = fused(n, -half_pi[1], first);
        return {fused(n, -half_pi[2], second), 0.0f, bits_of(shifted)};
    } else {
        const float product = times(n, half_pi[1]), second = first - product;
        const float lost = (first - second) - product - fused(n, half_pi[1], -product);
        const float rest = fused(n, half_pi[2], -lost), high = second - rest;    // -0 stays -0
        return {high, (second - high) - rest, bits_of(shifted)};
    }
}

// Payne and Hanek: x/4 * 2/pi as a fraction of 64 bits, from the 96 bits of 2/pi that matter to an
// exponent of 17 or more. Only words of 32 bits: every vector unit and every GPU has them.
NACELLE_INLINE uint32_t high_product(uint32_t a, uint32_t b) {
    return uint32_t(uint64_t(a) * b >> 32);
}
NACELLE_INLINE uint32_t joined(uint32_t high, uint32_t low, uint32_t shift) {
    return high << shift | low >> 1 >> (31 - shift);
}
NACELLE_INLINE Quarter far_quarter(float x) {
    const uint32_t raw = bits_of(x), size = raw & 0x7fffffffu;
    const uint32_t skip = (size >> 23) - 144u, shift = skip & 31;
    const uint32_t mantissa = (raw & 0x7fffffu) | 0x800000u;

    // The words of 2/pi / 256 from bit 32 * (skip / 32) on, by two rounds of choices.
    const bool two = skip & 64, one = skip & 32;
    const uint32_t a = two ? 0x29fc2757u : 0x00a2f983u, b = two ? 0xd1f534ddu : 0x6e4e4415u,
                   c = two ? 0xc0db6295u : 0x29fc2757u, d = two ? 0x993c4390u : 0xd1f534ddu,
                   e = two ? 0x41fe5163u : 0xc0db6295u;
    const uint32_t p = one ? b : a, q = one ? c : b, r = one ? d : c, s = one ? e : d;
    const uint32_t first = joined(p, q, shift), second = joined(q, r, shift),
                   third = joined(r, s, shift);

    const uint32_t middle = mantissa * second;
    const uint32_t lower = middle + high_product(mantissa, third);
    const uint32_t upper =
        mantissa * first + high_product(mantissa, second) + (lower < middle ? 1u : 0u);

    // The nearest quarter; the rest without its sign, a fraction of 64 bits, as 24 bits, 31 and 9:
    // all count, since a multiple of pi/2 may leave no more than the last 33.
    const uint32_t turns = (upper + 0x20000000u) >> 30;
    const uint32_t below = 0u - (upper >> 29 & 1);    // all ones where the nearest is above
    const uint32_t rest = (upper << 2 | lower >> 30) ^ below, after = lower << 2 ^ below;
    const float whole = times(float(int(rest & 0xffffff00u)), 2.3283064365386963e-10f);
    const float part =
        fused(float(int(after & 0x1ffu)), 5.421010862427522e-20f,
              times(float(int((rest & 0xffu) << 23 | after >> 9)), 2.7755575615628914e-17f));
    const float first_part = fused(whole, half_pi[0], times(part, half_pi[0]));
    const float lost =
        fused(whole, half_pi[1], fused(part, half_pi[0], fused(whole, half_pi[0], -first_part)));
    const float high = first_part + lost, low = lost - (high - first_part);
    const uint32_t sign = raw >> 31, side = sign ^ (below & 1);
    return {flip(high, side), flip(low, side), (turns ^ (0u - sign)) + sign};
}

template <bool full, bool pair> NACELLE_INLINE Quarter quarter(float x) {
    Quarter result = near_quarter<pair>(x);
    if constexpr (full) {
        const bool far = magnitude(x) > near_bound;
#if NACELLE_GPU
        if (far) result = far_quarter(x);
#else
        const Quarter other = far_quarter(x);
        result.high = far ? other.high : result.high;
        result.low = far ? other.low : result.low;
        result.turns = far ? other.turns : result.turns;
#endif
    }
    return result;
}
// The value, or NaN for an argument that has no turns here. Whole words: a comparison and a choice
// took 6 % of a CartPole step (AMD EPYC, one core, November 2026).
template <bool full> NACELLE_INLINE float where_turned(float x, float value) {
    constexpr uint32_t largest = full ? 0x7f7fffffu : __builtin_bit_cast(uint32_t, near_bound);
    const int beyond = int(largest - (bits_of(x) & 0x7fffffffu)) >> 31;
    return from_bits(bits_of(value) | uint32_t(beyond));
}

struct Pair {
    float sine, cosine;
};
// Both always: an environment that asks for both pays once, and a choice between two results is no
// branch. The sine takes the sign of its argument, which a zero would lose in the sum.
NACELLE_INLINE Pair short_pair(float r) {
    const float z = times(r, r);
    const float sine = fused(times(r, z),
                             polynomial(z, -0.16666666663741367f, 0.00833333183062943f,
                                        -0.00019840063040804112f, 2.724686872287745e-06f),
                             r);
    const float cosine = fused(times(z, z),
                               polynomial(z, 0.04166666666422613f, -0.001388888763522796f,
                                          2.4800580601350126e-05f, -2.729840765238084e-07f),
                               fused(z, -0.5f, 1.0f));
    return {from_bits(bits_of(sine) | (bits_of(r) & 0x80000000u)), cosine};
}

template <bool full> NACELLE_INLINE float sine(float x) {
    const Quarter at = quarter<full, false>(x);
    const Pair pair = short_pair(at.high);
    const float value = flip(at.turns & 1 ? pair.cosine : pair.sine, at.turns >> 1 & 1);
    return where_turned<full>(x, value);
}
template <bool full> NACELLE_INLINE float cosine(float x) {
    const Quarter at = quarter<full, false>(x);
    const Pair pair = short_pair(at.high);
    const float value = flip(at.turns & 1 ? pair.sine : pair.cosine, (at.turns + 1) >> 1 & 1);
    return where_turned<full>(x, value);
}
// A polynomial of its own: the quotient of sine and cosine would have the errors of both.
template <bool full> NACELLE_INLINE float tangent(float x) {
    const Quarter at = quarter<full, true>(x);
    const float r = at.high, z = times(r, r);
    const float tail = polynomial(z, 0.33333334068408926f, 0.13333218694937604f,
                                  0.05399713045746584f, 0.02160030784602892f, 0.010034576954219597f,
                                  0.0010705323363654614f, 0.0039107127432252455f);
    // The slope at r is 1 + tan^2, about 1 + z.
    const float value = fused(times(r, z), tail, fused(at.low, z, at.low)) + r;
    const float signed_value = from_bits(bits_of(value) | (bits_of(r) & 0x80000000u));
    const bool odd = at.turns & 1;
    const float result = divided(odd ? -1.0f : signed_value, odd ? signed_value : 1.0f);
    return where_turned<full>(x, result);
}

}
