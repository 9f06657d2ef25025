#pragma once
#include <learn/layout/learners.h>
#include <learn/sums/shards.h>

namespace learn {

// A random order of 0 .. n-1 that nobody stores: a bijection of the next power of two, walked until it
// lands below n. Odd factors and shifts of the upper half into the lower are each one to one.
struct Shuffle {
    // Three leave some orders uneven: the mean of a minibatch's numbers nine deviations off.
    static constexpr int rounds = 4;
    uint32_t n, mask, half, factor[rounds], offset[rounds];

    NACELLE_INLINE Shuffle(uint32_t count, uint64_t seed, uint64_t iteration, uint32_t epoch,
                           uint32_t stream)
        : n(count) {
        uint32_t bits = 1;
        while (bits < 31 && (1u << bits) < n) ++bits;
        mask = (1u << bits) - 1;
        half = (bits + 1) / 2;
        Rng rng(seed, Domain::permutation, iteration, epoch, stream);
        NACELLE_UNROLL for (int i = 0; i < rounds; ++i) {
            factor[i] = rng.bits() | 1u;
            offset[i] = rng.bits();
        }
    }
    NACELLE_INLINE uint32_t operator()(uint32_t i) const {
        uint32_t x = i;
        do {
            NACELLE_UNROLL for (int round = 0; round < rounds; ++round) {
                x = (x * factor[round] + offset[round]) & mask;
                x ^= x >> half;
            }
        } while (x >= n);
        return x;
    }
};

// The samples of one minibatch: those from `begin` on of the epoch's order. Networks that remember have sequences, one
// behind the other, whose order that is. A GPU takes the only minibatch of an epoch as it lies in memory: whatever the
// order, the same samples are in it, and neighbours are read together.
//
// Environments may be in several shards, of which some are this rank's. Every shard has the same part in each minibatch, by
// the same order, so that minibatches of all ranks together do not depend on how many there are.
template <class E, int policy> struct Minibatch {
    uint32_t steps, sequences, begin, count;    // sequences and begin: of one shard
    bool shuffled;
    Shuffle order;

    NACELLE_INLINE Minibatch(const View<E>& view, const Arguments& a)
        : steps(has_memory<policy> ? a.sequence : 1),
          sequences(samples_of<E, policy>(view, a) / steps / shards),
          begin(uint32_t(uint64_t(sequences) * a.minibatch / a.minibatches)),
          count((uint32_t(uint64_t(sequences) * (a.minibatch + 1) / a.minibatches) - begin) *
                steps * shards),
          shuffled(!NACELLE_GPU || a.minibatches > 1),
          order(sequences, view.head.seed, a.iteration[0], a.epoch, uint32_t(policy)) {}
    NACELLE_INLINE uint32_t ordered(const Arguments& a, uint32_t i) const {
        if constexpr (shards == 1) return shuffled ? order(begin + i) : i;
        else {
            const uint32_t each = count / steps / shards,
                           own = learners<policy>(a.policy[policy]) / shards,
                           x = shuffled ? order(begin + i % each) : i % each;
            return (x / own * shards + i / each) * own + x % own;
        }
    }
    // The sample that step t of sequence i of them is.
    NACELLE_INLINE uint32_t sample(const Arguments& a, uint32_t i, uint32_t t) const {
        const uint32_t sequence = ordered(a, i), agents = learners<policy>(a.policy[policy]);
        return (sequence / agents * steps + t) * agents + sequence % agents;
    }
    // Where number i of them lies.
    NACELLE_INLINE size_t place(const View<E>& view, const Arguments& a, uint32_t i) const {
        if constexpr (has_memory<policy>)
            return place_of<E, policy>(view, a, sample(a, i / steps, i % steps));
        else return place_of<E, policy>(view, a, ordered(a, i));
    }
};
// The sample that step t of sequence i of a minibatch is.
template <class E, int policy>
NACELLE_INLINE uint32_t sample_of_sequence(const View<E>& view, const Arguments& a, uint32_t i,
                                           uint32_t t) {
    return Minibatch<E, policy>(view, a).sample(a, i, t);
}

}
