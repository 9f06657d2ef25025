#pragma once
#include <nacelle/math.h>

namespace nacelle {

// What a stream of random numbers is for: two uses never share one.
enum class Domain : uint32_t { step, reset, parameters, snapshots, policy, permutation, initialisation, level };

// What 32 random bits become: a number in [0, 1) of 24 bits, a choice among 0 .. n-1.
NACELLE_INLINE constexpr float uniform_from(uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }
NACELLE_INLINE constexpr int below_from(uint32_t bits, int n) { return int(uint64_t(bits) * uint32_t(n) >> 32); }

// Philox4x32-10 (Salmon and others, 2011). A stream is a pure function of the seed and of a counter
// {domain and block, tick low, tick high, row}: nothing is stored between steps, and the same numbers
// come on every backend, batch split and thread count.
class Rng {
public:
    // `stream` tells apart several uses within one domain, row and tick: at most 65,536 of them.
    constexpr Rng(uint64_t seed, Domain domain, uint64_t tick, uint32_t row, uint32_t stream = 0)
        : key_low_(uint32_t(seed)), key_high_(uint32_t(seed >> 32)), tick_low_(uint32_t(tick)),
          tick_high_(uint32_t(tick >> 32) ^ stream << 16), row_(row), block_(uint32_t(domain) << 24) {}

    NACELLE_INLINE constexpr uint32_t bits() {
        if (left_ == 0) refill();
        --left_;
        const uint32_t next = word0_;              // shifted: an index would put the block in memory
        word0_ = word1_;
        word1_ = word2_;
        word2_ = word3_;
        return next;
    }
    // In [0, 1): 24 bits.
    NACELLE_INLINE constexpr float uniform() { return uniform_from(bits()); }
    NACELLE_INLINE constexpr float uniform(float low, float high) { return low + (high - low) * uniform(); }
    // In 0 .. n-1.
    NACELLE_INLINE constexpr int below(int n) { return below_from(bits(), n); }
    NACELLE_INLINE constexpr bool chance(float p) { return uniform() < p; }
    NACELLE_INLINE float normal() {
        const float radius = sqrt(-2.0f * log(1.0f - uniform()));
        return radius * cos(2.0f * pi * uniform());
    }
    template <class List> constexpr void shuffle(List& list, int n) {
        for (int i = n - 1; i > 0; --i) {
            const int j = below(i + 1);
            const auto held = list[i];
            list[i] = list[j];
            list[j] = held;
        }
    }

private:
    constexpr void refill() {
        uint32_t a = block_++, b = tick_low_, c = tick_high_, d = row_, low = key_low_, high = key_high_;
        NACELLE_UNROLL for (int round = 0; round < 10; ++round) {
            const uint64_t first = uint64_t(0xD2511F53u) * a, second = uint64_t(0xCD9E8D57u) * c;
            a = uint32_t(second >> 32) ^ b ^ low;
            b = uint32_t(second);
            c = uint32_t(first >> 32) ^ d ^ high;
            d = uint32_t(first);
            low += 0x9E3779B9u;
            high += 0xBB67AE85u;
        }
        word0_ = a;
        word1_ = b;
        word2_ = c;
        word3_ = d;
        left_ = 4;
    }
    uint32_t key_low_, key_high_, tick_low_, tick_high_, row_, block_;
    uint32_t word0_ = 0, word1_ = 0, word2_ = 0, word3_ = 0;
    int left_ = 0;
};

}
