#pragma once
#include <learn/spec.h>

namespace learn {

// A random order of 0 .. n-1 that nobody stores: a bijection of the next power of two, walked until it
// lands below n. Odd factors and shifts of the upper half into the lower are each one to one.
struct Shuffle {
    uint32_t n, mask, half, factor[3], offset;

    NACELLE_INLINE Shuffle(uint32_t count, uint64_t seed, uint64_t iteration, uint32_t epoch,
                           uint32_t stream)
        : n(count) {
        uint32_t bits = 1;
        while (bits < 31 && (1u << bits) < n) ++bits;
        mask = (1u << bits) - 1;
        half = (bits + 1) / 2;
        Rng rng(seed, Domain::permutation, iteration, epoch, stream);
        offset = rng.bits();
        NACELLE_UNROLL for (int i = 0; i < 3; ++i) factor[i] = rng.bits() | 1u;
    }
    NACELLE_INLINE uint32_t operator()(uint32_t i) const {
        uint32_t x = i;
        do {
            x = (x * factor[0] + offset) & mask;
            x ^= x >> half;
            x = (x * factor[1]) & mask;
            x ^= x >> half;
            x = (x * factor[2]) & mask;
        } while (x >= n);
        return x;
    }
};

}
