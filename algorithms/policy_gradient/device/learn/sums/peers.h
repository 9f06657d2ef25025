#pragma once
#include <learn/sums/shards.h>
#if !defined(__CUDACC_RTC__)
#include <sched.h>
#endif
// Sums over the GPUs of one machine, which write into one another's memory inside the kernel that needs the sum. A number
// travels in a word with the number of its exchange: both are there at once or not at all, so that no flag follows them
// and no fence. Terms are added up by the tree of shards.h, which gives all ranks the same bits.

namespace learn {

namespace peers {

// One word, or two neighbours at 16 bytes.
template <int n> NACELLE_INLINE void store(uint64_t* to, const uint64_t (&word)[n]) {
    static_assert(n == 1 || n == 2);
#if defined(__CUDACC_RTC__)
    if constexpr (n == 1)
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(to), "l"(word[0]));
    else
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};"
                     :
                     : "l"(to), "l"(word[0]), "l"(word[1]));
#else
    for (int i = 0; i < n; ++i) __atomic_store_n(to + i, word[i], __ATOMIC_RELAXED);
#endif
}
template <int n> NACELLE_INLINE void load(const uint64_t* from, uint64_t (&word)[n]) {
    static_assert(n == 1 || n == 2);
#if defined(__CUDACC_RTC__)
    if constexpr (n == 1)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word[0]) : "l"(from));
    else
        asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(word[0]), "=l"(word[1])
                     : "l"(from));
#else
    for (int i = 0; i < n; ++i) word[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
#endif
}
// Whether the host has said that nobody will answer any more.
NACELLE_INLINE bool has_ended(const uint32_t* ended) {
#if defined(__CUDACC_RTC__)
    uint32_t found;
    asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(found) : "l"(ended));
    return found != 0;
#else
    sched_yield();    // the other rank may need this processor
    return __atomic_load_n(ended, __ATOMIC_RELAXED) != 0;
#endif
}

}

// One exchange of numbers of one kind, such as a policy's gradient. All threads that take part in it see the same turn,
// which next_turn() ends once all of them are through.
//
// A grid may have more blocks than a GPU has at once, and blocks that wait keep their places. Still one goes on: a block
// sends all of its terms before it waits for any, waits for blocks of its own number alone, and GPUs start blocks in the
// order of their numbers. Take the lowest number whose block has not ended on all ranks: on each of them it has ended or has
// been started, no matter how many blocks a GPU has room for. So what it waits for has been sent or is about to be.
class Exchange {
public:
    NACELLE_INLINE Exchange(const Peers& peers, uint32_t place)
        : peers_(peers),
          rank_(peers.rank),
          count_(among_ranks ? uint32_t(rank_count) : peers.count),
          words_(peers.sums[place].words),
          turn_(peers.turns[place] + 1),
          first_(peers.sums[place].first + (turn_ & 1) * (count_ + 1) * words_),
          own_(peers.memory[rank_] + first_),
          next_(peers.memory[after(rank_)] + first_) {}
    static NACELLE_INLINE void next_turn(Peers& peers, uint32_t place) { peers.turns[place] += 1; }

    // Of a row.
    NACELLE_INLINE uint64_t words() const { return words_; }

    // Sends this rank's terms to where they are added up: to all in one step (shots 1), or to the one rank who owns the
    // place (shots 2) and gives the sum back.
    template <int shots, int n>
    NACELLE_INLINE void send(uint64_t word, const float (&own)[n], uint32_t place) const {
        static_assert(shots == 1 || shots == 2);
        uint64_t its[n];
        pack(own, its);
        if constexpr (shots == 1) to_others(rank_, word, its);
        else if (const uint32_t owner = place % count_; owner != rank_)
            peers::store(row(owner, rank_) + word, its);
    }
    // Waits, and replaces the own terms by the sums.
    template <int shots, int n>
    NACELLE_INLINE void sum(uint64_t word, float (&own)[n], uint32_t place) const {
        uint64_t its[n];
        pack(own, its);
        if (shots == 1 || place % count_ == rank_) {
            const Floats<n> all = sum_of_ranks<Floats<n>>(word, its, [](const uint64_t(&term)[n]) {
                Floats<n> value;
                NACELLE_UNROLL for (int i = 0; i < n; ++i) value.at[i] =
                    __builtin_bit_cast(float, uint32_t(term[i]));
                return value;
            });
            NACELLE_UNROLL for (int i = 0; i < n; ++i) own[i] = all.at[i];
            if constexpr (shots == 2) {
                pack(own, its);
                to_others(count_, word, its);
            }
        } else {
            const uint64_t* const from[1] = {own_row(count_) + word};
            uint64_t found[1][n] = {};
            arrive(from, found);
            NACELLE_UNROLL for (int i = 0; i < n; ++i) own[i] =
                __builtin_bit_cast(float, uint32_t(found[0][i]));
        }
    }
    // The same for a double, whose halves have a word each; in one step.
    NACELLE_INLINE void send(uint64_t word, double own) const {
        uint64_t its[2];
        pack(own, its);
        to_others(rank_, word, its);
    }
    NACELLE_INLINE double sum(uint64_t word, double own) const {
        uint64_t its[2];
        pack(own, its);
        return sum_of_ranks<double>(word, its, [](const uint64_t(&term)[2]) {
            return __builtin_bit_cast(double, uint64_t(uint32_t(term[0])) | term[1] << 32);
        });
    }

private:
    static constexpr uint32_t at_once = 4;    // ranks that are waited for together
    static_assert(at_once == 4 && most_peers % at_once == 0);
    template <int n> struct Floats {
        float at[n] = {};
        friend NACELLE_INLINE Floats operator+(const Floats& a, const Floats& b) {
            Floats sum;
            NACELLE_UNROLL for (int i = 0; i < n; ++i) sum.at[i] = a.at[i] + b.at[i];
            return sum;
        }
    };

    // The rank that follows, in a ring.
    NACELLE_INLINE uint32_t after(uint32_t rank) const { return rank + 1 < count_ ? rank + 1 : 0; }
    // Where the words of rank `from` lie in the memory of rank `of`, and in this one's; behind all ranks lie the sums of
    // owners.
    NACELLE_INLINE uint64_t* row(uint32_t of, uint32_t from) const {
        return (rank_count == 2 ? next_ : peers_.memory[of] + first_) + from * words_;
    }
    NACELLE_INLINE const uint64_t* own_row(uint32_t from) const { return own_ + from * words_; }
    NACELLE_INLINE uint64_t with_turn(uint32_t bits) const { return uint64_t(turn_) << 32 | bits; }
    template <int n> NACELLE_INLINE void pack(const float (&own)[n], uint64_t (&to)[n]) const {
        NACELLE_UNROLL for (int i = 0; i < n; ++i) to[i] =
            with_turn(__builtin_bit_cast(uint32_t, own[i]));
    }
    NACELLE_INLINE void pack(double own, uint64_t (&to)[2]) const {
        const uint64_t bits = __builtin_bit_cast(uint64_t, own);
        to[0] = with_turn(uint32_t(bits));
        to[1] = with_turn(uint32_t(bits >> 32));
    }
    template <int n>
    NACELLE_INLINE void to_others(uint32_t from, uint64_t word, const uint64_t (&its)[n]) const {
        peers::store(next_ + from * words_ + word, its);
        uint32_t rank = after(rank_);
        NACELLE_ROLLED for (uint32_t k = 2; k < count_; ++k) {
            rank = after(rank);
            peers::store(row(rank, from) + word, its);
        }
    }
    // Of what value(its words) makes of each rank's, the own ones among them. Four neighbours are a branch of the tree.
    template <class T, int n, class Value>
    NACELLE_INLINE T sum_of_ranks(uint64_t word, const uint64_t (&own)[n], Value&& value) const {
        if constexpr (rank_count == 2) {    // either order is the same sum
            const uint64_t* const from[1] = {own_row(after(rank_)) + word};
            uint64_t found[1][n] = {};
            arrive(from, found);
            return value(own) + value(found[0]);
        }
        TreeSum<T, most_peers / at_once> branches;
        NACELLE_ROLLED for (uint32_t first = 0; first < count_; first += at_once) {
            const uint64_t* from[at_once];
            uint64_t found[at_once][n];
            NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
                const uint32_t rank = first + k;
                from[k] = rank < count_ && rank != rank_ ? own_row(rank) + word : nullptr;
                NACELLE_UNROLL for (int i = 0; i < n; ++i) found[k][i] = own[i];
            }
            arrive(from, found);
            const uint32_t there = count_ - first;
            T branch = value(found[0]);
            if (there > 1) branch = branch + value(found[1]);
            if (there == 3) branch = branch + value(found[2]);
            if (there > 3) branch = branch + (value(found[2]) + value(found[3]));
            branches.add(branch);
        }
        return branches.sum();
    }
    // Waits until the words of this turn are there, or until nobody will send them; then they are what they are, and the
    // host ends the run.
    template <uint32_t count, int n>
    NACELLE_INLINE void arrive(const uint64_t* const (&from)[count],
                               uint64_t (&found)[count][n]) const {
        constexpr uint32_t between_looks = 4096;
        NACELLE_ROLLED for (uint32_t tries = 1;; ++tries) {
            bool all = true;
            NACELLE_UNROLL for (uint32_t k = 0; k < count; ++k) if (from[k])
                peers::load(from[k], found[k]);
            NACELLE_UNROLL for (uint32_t k = 0; k < count; ++k)
                NACELLE_UNROLL for (int i = 0; i < n; ++i) all &=
                uint32_t(found[k][i] >> 32) == turn_;
            if (all) return;
            if (tries % between_looks == 0 && peers::has_ended(peers_.ended)) return;
        }
    }

    // What a sum needs is read before there is one: each of these would be waited for.
    const Peers& peers_;
    uint32_t rank_, count_;
    uint64_t words_;
    uint32_t turn_;
    uint64_t first_;
    uint64_t *own_, *next_;    // in the memory of this rank, and of the one that follows
};

}
