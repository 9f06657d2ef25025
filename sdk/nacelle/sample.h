#pragma once
#include <nacelle/device/loop/random_words.h>
#include <nacelle/rollout.h>

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

// The policy that acts at random within the mask.
template <class E> class RandomPolicy {
public:
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        const auto& words = random_words(rows);
        rows.for_own([&](int i) NACELLE_INLINE_LAMBDA { rows.give(i, action(rows, i, words)); });
    }
    // The two halves of it: random bits for all rows, then what they make of one.
    template <class Rows> NACELLE_INLINE decltype(auto) random_words(const Rows& rows) {
        return words_.next_for(rows);
    }
    template <class Rows, class Words>
    static NACELLE_INLINE auto action(const Rows& rows, int i, const Words& words) {
        ActionOf<E, typename Rows::Group> action;
        int part = 0;
        sample_uniform(action, rows.mask(i), [&] { return words.word(i, part++); });
        return action;
    }

private:
    detail::RandomWords<E, detail::is_team<E>> words_;
};

// The policy that takes what lies in the action arrays.
template <class E> struct GivenPolicy {
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) const {
        rows.for_own([&](int i) NACELLE_INLINE_LAMBDA { rows.give(i, action(rows, i)); });
    }
    template <class Rows> static NACELLE_INLINE auto action(const Rows& rows, int i) {
        using G = typename Rows::Group;
        constexpr int slot = detail::group_slot<E>(Role::action, detail::group_index<E, G>());
        ActionOf<E, G> action;
        detail::load_row<E>(rows.view.array, slot, rows.row(i), detail::rows_of<E, G>(rows.view),
                            action);
        return action;
    }
};

}
