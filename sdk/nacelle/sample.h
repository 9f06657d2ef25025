#pragma once
#include <nacelle/rollout.h>
#if !NACELLE_GPU
#include <nacelle/device/maths/philox_block.h>
#endif

namespace nacelle {

// A uniform choice among what the mask allows (null: all), for every part of an action. Where a
// mask allows nothing the first choice is taken; `check` reports such masks.
// next() gives 32 random bits, one draw for each part.
template <class A, class Next>
NACELLE_INLINE void sample_uniform(A& action, const uint8_t* mask, Next&& next) {
    int base = 0;
    detail::for_each_element(action, [&](auto, int, auto& part) {
        using T = detail::bare<decltype(part)>;
        if constexpr (detail::form_of<T> == detail::Form::discrete) {
            if (!mask) part.value = below_from(next(), T::choices);
            else {
                int allowed = 0, choice = 0;
                for (int i = 0; i < T::choices; ++i) allowed += mask[base + i];
                int skip = below_from(next(), max(allowed, 1));
                for (int i = 0; i < T::choices; ++i) {
                    const bool open = mask[base + i] != 0;
                    if (open && skip == 0) choice = i;
                    skip -= open;
                }
                part.value = choice;
            }
            base += T::choices;
        } else part.value = T::low + (T::high - T::low) * uniform_from(next());
    });
}

// The policy that acts at random within the mask. An action of one part needs one word of random
// bits, so four ticks share the four words of a Philox block, two where it has two parts.
template <class E, bool team = detail::is_team<E>> class RandomPolicy {
    static constexpr int parts = detail::sum_over<ActionOf<E>, detail::CountEach>();
    static constexpr int together = parts == 1 ? 4 : parts == 2 ? 2 : 1;    // ticks in a block
    static constexpr int words = together * parts;

public:
#if NACELLE_GPU
    NACELLE_INLINE void act(const View<E>& view, const Now& now, ActionOf<E>& action) {
        const int turn = int(now.tick % together);
        if (now.t == 0 || turn == 0) {
            Rng rng(view.head.seed, Domain::policy, now.tick / together,
                    view.head.first_env + uint32_t(now.env));
            NACELLE_UNROLL for (int i = 0; i < words; ++i) words_[i] = rng.bits();
            if (together > 1) NACELLE_ROLLED for (int i = 0; i < turn; ++i) shift();
        }
        int part = 0;
        sample_uniform(action, now.mask, [&] { return words_[part++]; });
        if (together > 1) shift();
    }

private:
    NACELLE_INLINE void shift() {    // an index at run time would put the words in memory
        NACELLE_UNROLL for (int i = 0; i + parts < words; ++i) words_[i] = words_[i + parts];
    }
    uint32_t words_[words];
#else
    struct Actor {
        const uint32_t* words;
        size_t begin;
        NACELLE_INLINE void act(const View<E>&, const Now& now, ActionOf<E>& action) const {
            size_t at = now.env - begin;
            sample_uniform(action, now.mask, [&] {
                const uint32_t word = words[at];
                at += detail::lanes_per_pass;
                return word;
            });
        }
    };
    // The same numbers for a whole block at once: four times as fast as one by one.
    Actor block(const View<E>& view, uint64_t tick, int t, size_t begin, int count) {
        const int turn = int(tick % together);
        if (t == 0 || turn == 0)
            detail::philox_block(words_, view.head.seed, Domain::policy, tick / together,
                                 view.head.first_env + uint32_t(begin), count);
        return {words_[turn * parts], begin};
    }

private:
    uint32_t words_[words][detail::lanes_per_pass];
#endif
};

// The same for the members of a team.
template <class E> class RandomPolicy<E, true> {
    template <class G> using Form = detail::Shared<E, G>;
    template <class G> static constexpr int words = Form<G>::parts* Form<G>::rows;
    // Of the first block of an environment, counted over the whole run.
    template <class G> static NACELLE_INLINE uint32_t first(const View<E>& view, size_t env) {
        return (view.head.first_env + uint32_t(env)) * uint32_t(Form<G>::blocks);
    }

public:
#if NACELLE_GPU
    // A block may be asked for several times, for one of its rows each.
    static constexpr bool row_by_row = true;

    template <class G>
    NACELLE_INLINE void block(const View<E>& view, uint64_t tick, int, size_t env, int block) {
        Rng rng(view.head.seed, Domain::policy, tick, first<G>(view, env) + uint32_t(block),
                uint32_t(detail::group_index<E, G>()));
        NACELLE_UNROLL for (int i = 0; i < words<G>; ++i) words_[i] = rng.bits();
    }
    template <class G>
    NACELLE_INLINE void act(const View<E>&, const Now& now, int k, ActionOf<E, G>& action) {
        int word = k * Form<G>::parts;
        sample_uniform(action, now.mask, [&] { return words_[word++]; });
    }

private:
    static constexpr int most_words() {
        int most = 4;
        detail::for_each_group<E>([&]<class G, int>() { most = max(most, words<G>); });
        return most;
    }
    uint32_t words_[most_words()];
#else
    template <class G> struct Actor {
        uint32_t (&words)[RandomPolicy::words<G>][32];

        void act(const View<E>&, const Now& now, int k, int lane, ActionOf<E, G>& action) const {
            int word = k * Form<G>::parts;
            sample_uniform(action, now.mask, [&] { return words[word++][lane]; });
        }
    };
    template <class G>
    Actor<G> block(const View<E>& view, uint64_t tick, int, size_t env, int block, int count) {
        static thread_local uint32_t drawn[words<G>][32];
        // The stream of a group is part of the tick's upper word, as in Rng.
        detail::philox_block(drawn, view.head.seed, Domain::policy,
                             tick ^ uint64_t(detail::group_index<E, G>()) << 48,
                             first<G>(view, env) + uint32_t(block), count);
        return {drawn};
    }
#endif
};

// The policy that takes what lies in the action arrays.
template <class E> struct GivenPolicy {
    NACELLE_INLINE void act(const View<E>& view, const Now& now, ActionOf<E>& action) const {
        detail::load_row<E>(view.array, detail::slot_of<E>(Role::action), now.env, view.head.envs,
                            action);
    }
    GivenPolicy block(const View<E>&, uint64_t, int, size_t, int) const { return {}; }

    // Of a team's members, one by one.
    template <class G>
    NACELLE_INLINE void act(const View<E>& view, const Now& now, int,
                            ActionOf<E, G>& action) const {
        detail::load_row<E>(view.array,
                            detail::group_slot<E>(Role::action, detail::group_index<E, G>()),
                            now.row, detail::rows_of<E, G>(view), action);
    }
#if NACELLE_GPU
    template <class G>
    NACELLE_INLINE void block(const View<E>&, uint64_t, int, size_t, int) const {}
#else
    template <class G> struct Actor {
        NACELLE_INLINE void act(const View<E>& view, const Now& now, int k, int,
                                ActionOf<E, G>& action) const {
            GivenPolicy{}.template act<G>(view, now, k, action);
        }
    };
    template <class G> Actor<G> block(const View<E>&, uint64_t, int, size_t, int, int) const {
        return {};
    }
#endif
};

}
