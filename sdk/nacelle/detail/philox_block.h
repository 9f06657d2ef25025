#pragma once
#include <nacelle/random.h>
// Philox for many rows at once on a CPU. A compiler multiplies 32 by 32 bits into 64 well only where the
// words already lie in 64-bit lanes, which no loop over Rng gives it.

namespace nacelle::detail {

using Quad = uint64_t __attribute__((vector_size(32)));
using QuadWord = uint32_t __attribute__((vector_size(16)));
using QuadHalf = int32_t __attribute__((vector_size(32)));

// The products of the low halves.
NACELLE_INLINE Quad product_of_lows(Quad a, Quad b) {
#if defined(__AVX2__) && !defined(__clang__)
    return Quad(__builtin_ia32_pmuludq256(QuadHalf(a), QuadHalf(b)));
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// words[i][k] = the i-th draw of Rng(seed, domain, tick, row + k) for k below count.
template <int draws, int capacity>
__attribute__((noinline)) void philox_block(uint32_t (&words)[draws][capacity], uint64_t seed, Domain domain, uint64_t tick, uint32_t row, int count) {
    static_assert(capacity % 16 == 0);
    constexpr int together = 4;                  // independent chains hide the multiplier's latency
    for (int first = 0; first < draws; first += 4)
        for (int k = 0; k < count; k += 4 * together) {
            Quad a[together], b[together], c[together], d[together];
            for (int j = 0; j < together; ++j) {
                const uint64_t at = uint64_t(row) + uint64_t(k + 4 * j);
                a[j] = Quad{} + (uint64_t(uint32_t(domain) << 24) + uint64_t(first / 4));
                b[j] = Quad{} + (tick & 0xffffffffu);
                c[j] = Quad{} + (tick >> 32);
                d[j] = Quad{at, at + 1, at + 2, at + 3};
            }
            uint32_t low = uint32_t(seed), high = uint32_t(seed >> 32);
            NACELLE_UNROLL for (int round = 0; round < 10; ++round) {
                NACELLE_UNROLL for (int j = 0; j < together; ++j) {
                    const Quad one = product_of_lows(a[j], Quad{} + 0xD2511F53ull), two = product_of_lows(c[j], Quad{} + 0xCD9E8D57ull);
                    a[j] = (two >> 32) ^ b[j] ^ uint64_t(low);
                    b[j] = two;
                    c[j] = (one >> 32) ^ d[j] ^ uint64_t(high);
                    d[j] = one;
                }
                low += 0x9E3779B9u;
                high += 0xBB67AE85u;
            }
            for (int j = 0; j < together; ++j) {
                const Quad* const block[4] = {&a[j], &b[j], &c[j], &d[j]};
                NACELLE_UNROLL for (int i = 0; i < 4; ++i)
                    if (first + i < draws) *reinterpret_cast<QuadWord __attribute__((aligned(4), may_alias))*>(&words[first + i][k + 4 * j]) = __builtin_convertvector(*block[i], QuadWord);
            }
        }
}

}
