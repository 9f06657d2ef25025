#pragma once
#include <nacelle/device/loop/rows.h>
#if !NACELLE_GPU
#include <nacelle/device/maths/philox_block.h>
#endif
// The random bits of the policy that acts at random: a word for each part of an action, four words to a block
// of Philox, and no block for one word alone.

namespace nacelle::detail {

// Of environments with one agent. An action of one part needs one word, so four ticks share a block, two
// where it has two parts.
template <class E, bool team> class RandomWords {
    static constexpr int parts = sum_over<ActionOf<E>, CountEach>();
    static constexpr int together = parts == 1 ? 4 : parts == 2 ? 2 : 1;    // ticks in a block
    static constexpr int words = together * parts;

public:
#if NACELLE_GPU
    template <class Rows> NACELLE_INLINE const RandomWords& next_for(const Rows& rows) {
        const int turn = int(rows.tick % together);
        if (rows.t > 0 && turn != 0) {
            shift();    // an index at run time would put the words in memory
            return *this;
        }
        Rng rng(rows.view.head.seed, Domain::policy, rows.tick / together,
                rows.view.head.first_env + uint32_t(rows.env));
        NACELLE_UNROLL for (int i = 0; i < words; ++i) words_[i] = rng.bits();
        if (together > 1) NACELLE_ROLLED for (int i = 0; i < turn; ++i) shift();
        return *this;
    }
    NACELLE_INLINE uint32_t word(int, int part) const { return words_[part]; }

private:
    NACELLE_INLINE void shift() {
        NACELLE_UNROLL for (int i = 0; i + parts < words; ++i) words_[i] = words_[i + parts];
    }
    uint32_t words_[words];
#else
    struct Drawn {
        const uint32_t* words;
        NACELLE_INLINE uint32_t word(int i, int part) const { return words[part * block_envs + i]; }
    };
    // For a whole block of environments at once: four times as fast as one by one.
    template <class Rows> NACELLE_INLINE Drawn next_for(const Rows& rows) {
        const int turn = int(rows.tick % together);
        if (rows.t == 0 || turn == 0)
            philox_block(words_, rows.view.head.seed, Domain::policy, rows.tick / together,
                         rows.view.head.first_env + uint32_t(rows.first), rows.count);
        return {words_[turn * parts]};
    }

private:
    uint32_t words_[words][block_envs];
#endif
};

// Of teams: rows share blocks as RandomBlocks says.
template <class E> class RandomWords<E, true> {
    template <class G>
    static constexpr int words = RandomBlocks<E, G>::parts* RandomBlocks<E, G>::rows;
    static constexpr int most_words() {
        int most = 4;
        for_each_group<E>([&]<class G, int>() { most = max(most, words<G>); });
        return most;
    }
    // A block's number, counted over the whole run.
    template <class Rows> static NACELLE_INLINE uint32_t block_of(const Rows& rows) {
        return (rows.view.head.first_env + uint32_t(rows.local.env)) *
                   uint32_t(Rows::Form::blocks) +
               uint32_t(rows.block);
    }

public:
#if NACELLE_GPU
    template <class Parts> struct Drawn {
        const uint32_t (&words)[most_words()];
        NACELLE_INLINE uint32_t word(int i, int part) const {
            return words[i * Parts::parts + part];
        }
    };
    template <class Rows> NACELLE_INLINE auto next_for(const Rows& rows) {
        using G = typename Rows::Group;
        Rng rng(rows.view.head.seed, Domain::policy, rows.tick, block_of(rows),
                uint32_t(group_index<E, G>()));
        NACELLE_UNROLL for (int i = 0; i < words<G>; ++i) words_[i] = rng.bits();
        return Drawn<RandomBlocks<E, G>>{words_};
    }

private:
    uint32_t words_[most_words()];
#else
    template <class Parts> struct Drawn {
        const uint32_t (*words)[32];
        NACELLE_INLINE uint32_t word(int i, int part) const {
            return words[i / 32 * Parts::parts + part][i % 32];
        }
    };
    template <class Rows> NACELLE_INLINE auto next_for(const Rows& rows) {
        using G = typename Rows::Group;
        static thread_local uint32_t drawn[words<G>][32];
        // The stream of a group is part of the tick's upper word, as in Rng.
        philox_block(drawn, rows.view.head.seed, Domain::policy,
                     rows.tick ^ uint64_t(group_index<E, G>()) << 48, block_of(rows),
                     min(32, RandomBlocks<E, G>::blocks - rows.block));
        return Drawn<RandomBlocks<E, G>>{drawn};
    }
#endif
};

}
