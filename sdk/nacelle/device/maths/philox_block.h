#pragma once
#include <nacelle/random.h>
// Philox for many rows at once on a CPU. A compiler multiplies 32 by 32 bits into 64 well only where the
// words already lie in 64-bit lanes, which no loop over Rng gives it.

namespace nacelle::detail {

#if defined(__AVX512F__)
inline constexpr int philox_lanes = 8;
#else
inline constexpr int philox_lanes = 4;
#endif
using Lanes = uint64_t __attribute__((vector_size(8 * philox_lanes)));
using LanesOfWords = uint32_t __attribute__((vector_size(4 * philox_lanes)));
using LanesOfHalves = int32_t __attribute__((vector_size(8 * philox_lanes)));

// The products of the low halves.
NACELLE_INLINE void multiply_lows(const Lanes& a, const Lanes& b, Lanes& product) {
#if defined(__AVX512F__) && !defined(__clang__)
    product = Lanes(__builtin_ia32_pmuludq512_mask(
        LanesOfHalves(a), LanesOfHalves(b), (__attribute__((vector_size(64))) long long){}, 0xff));
#elif defined(__AVX2__) && !defined(__clang__)
    product = Lanes(__builtin_ia32_pmuludq256(LanesOfHalves(a), LanesOfHalves(b)));
#else
    product = (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// words[i][k] = the i-th draw of Rng(seed, domain, tick, row + k) for k below count.
template <int draws, int capacity>
__attribute__((noinline)) void philox_block(uint32_t (&words)[draws][capacity], uint64_t seed,
                                            Domain domain, uint64_t tick, uint32_t row, int count) {
    static_assert(capacity % (4 * philox_lanes) == 0);
    constexpr int together = 4;    // independent chains hide the multiplier's latency
    for (int first = 0; first < draws; first += 4)
        for (int k = 0; k < count; k += philox_lanes * together) {
            Lanes a[together], b[together], c[together], d[together];
            for (int j = 0; j < together; ++j) {
                const uint64_t at = uint64_t(row) + uint64_t(k + philox_lanes * j);
                a[j] = Lanes{} + (uint64_t(uint32_t(domain) << 24) + uint64_t(first / 4));
                b[j] = Lanes{} + (tick & 0xffffffffu);
                c[j] = Lanes{} + (tick >> 32);
                for (int i = 0; i < philox_lanes; ++i) d[j][i] = at + uint64_t(i);
            }
            uint32_t low = uint32_t(seed), high = uint32_t(seed >> 32);
            NACELLE_UNROLL for (int round = 0; round < 10; ++round) {
                NACELLE_UNROLL for (int j = 0; j < together; ++j) {
                    Lanes one, two;
                    multiply_lows(a[j], Lanes{} + 0xD2511F53ull, one);
                    multiply_lows(c[j], Lanes{} + 0xCD9E8D57ull, two);
                    a[j] = (two >> 32) ^ b[j] ^ uint64_t(low);
                    b[j] = two;
                    c[j] = (one >> 32) ^ d[j] ^ uint64_t(high);
                    d[j] = one;
                }
                low += 0x9E3779B9u;
                high += 0xBB67AE85u;
            }
            for (int j = 0; j < together; ++j) {
                const Lanes* const block[4] = {&a[j], &b[j], &c[j], &d[j]};
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                    if (first + i >= draws) break;
                    const LanesOfWords narrow = __builtin_convertvector(*block[i], LanesOfWords);
                    __builtin_memcpy(&words[first + i][k + philox_lanes * j], &narrow,
                                     sizeof narrow);
                }
            }
        }
}

}
