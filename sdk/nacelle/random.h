#pragma once
#include <nacelle/device/episode/fault.h>
#include <nacelle/math.h>

namespace nacelle {

// What a stream of random numbers is for: two uses never share one.
enum class Domain : uint32_t {
    step,
    reset,
    parameters,
    snapshots,
    policy,
    permutation,
    initialisation,
    level,
    opponents
};

namespace detail {

struct Product {
    uint32_t low, high;
};
// 32 by 32 bits into 64. In words on a GPU: left as 64-bit arithmetic, Philox takes twice the instructions.
NACELLE_INLINE Product wide_product(uint32_t a, uint32_t b) {
#if defined(__CUDACC_RTC__)
    Product product;
    asm("{ .reg .u64 wide; mul.wide.u32 wide, %2, %3; mov.b64 {%0, %1}, wide; }"
        : "=r"(product.low), "=r"(product.high)
        : "r"(a), "r"(b));
    return product;
#else
    const uint64_t wide = uint64_t(a) * b;
    return {uint32_t(wide), uint32_t(wide >> 32)};
#endif
}

struct PhiloxWords {
    uint32_t a, b, c, d;
};
NACELLE_NOINLINE_IN_DRAFTS inline PhiloxWords philox(PhiloxWords x, uint32_t low, uint32_t high) {
    NACELLE_ROLLED_IN_DRAFTS for (int round = 0; round < 10; ++round) {
        const Product first = wide_product(0xD2511F53u, x.a),
                      second = wide_product(0xCD9E8D57u, x.c);
        x = {second.high ^ x.b ^ low, second.low, first.high ^ x.d ^ high, first.low};
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return x;
}

}

// What 32 random bits become: a number in [0, 1) of 24 bits, a choice among 0 .. n-1.
NACELLE_INLINE float uniform_from(uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }
NACELLE_INLINE int below_from(uint32_t bits, int n) {
    return int(detail::wide_product(bits, uint32_t(n)).high);
}

// Philox4x32-10 (Salmon and others, 2011). A stream is a pure function of the seed and of a counter
// {domain and block, tick low, tick high, row}: nothing is stored between steps, and the same numbers
// come on every backend, batch split and thread count.
class Rng {
public:
    // `stream` tells apart several uses within one domain, row and tick: at most 65,536 of them.
    constexpr Rng(uint64_t seed, Domain domain, uint64_t tick, uint32_t row, uint32_t stream = 0)
        : key_low_(uint32_t(seed)),
          key_high_(uint32_t(seed >> 32)),
          tick_low_(uint32_t(tick)),
          tick_high_(uint32_t(tick >> 32) ^ stream << 16),
          row_(row),
          block_(uint32_t(domain) << 24) {}

    // The next numbers are made here rather than where the first of them is needed.
    NACELLE_INLINE void prepare() {
        if (left_ == 0) refill();
    }
    NACELLE_INLINE uint32_t bits() {
        prepare();
        --left_;
        const uint32_t next = word0_;    // shifted: an index would put the block in memory
        word0_ = word1_;
        word1_ = word2_;
        word2_ = word3_;
        return next;
    }
    // In [0, 1): 24 bits.
    NACELLE_INLINE float uniform() { return uniform_from(bits()); }
    NACELLE_INLINE float uniform(float low, float high) { return low + (high - low) * uniform(); }
    // In 0 .. n-1.
    NACELLE_INLINE int below(int n) {
        detail::check_drawn(n);
        return below_from(bits(), n);
    }
    NACELLE_INLINE bool chance(float p) { return uniform() < p; }
    NACELLE_INLINE float normal() {
        const float radius = sqrt(-2.0f * log(1.0f - uniform()));
        return radius * cos(2.0f * pi * uniform());
    }
    template <class List> void shuffle(List& list, int n) {
        for (int i = n - 1; i > 0; --i) {
            const int j = below(i + 1);
            const auto held = list[i];
            list[i] = list[j];
            list[j] = held;
        }
    }

private:
    void refill() {
        const detail::PhiloxWords next =
            detail::philox({block_++, tick_low_, tick_high_, row_}, key_low_, key_high_);
        word0_ = next.a;
        word1_ = next.b;
        word2_ = next.c;
        word3_ = next.d;
        left_ = 4;
    }
    uint32_t key_low_, key_high_, tick_low_, tick_high_, row_, block_;
    uint32_t word0_ = 0, word1_ = 0, word2_ = 0, word3_ = 0;
    int left_ = 0;
};

}
