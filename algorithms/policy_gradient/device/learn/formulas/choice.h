#pragma once
#include <learn/formulas/heads.h>
#include <learn/sums/strips.h>
// Choices of a policy for rows of its group.

namespace learn {

// Whether a row follows this policy.
template <class E, class G, int policy> NACELLE_INLINE bool follows(size_t row) {
    if constexpr (!has_policies<E>) return true;
    else return policy_of<E>(group_index<E, G>(), int(row % size_t(count_of<E, G>))) == policy;
}
// The random numbers of a row's choice. Those of noise may stay the same for some steps.
template <class E, int policy> class Dice {
    using G = GroupOf<E, policy>;
    static constexpr uint32_t steps = uint32_t(Spec<policy>::noise_steps);

public:
    NACELLE_INLINE Dice(const View<E>& view, uint64_t tick, size_t row)
        : fresh_(of(view, tick, row, 0)),
          held_(steps > 1 ? of(view, tick / steps, row, 1) : fresh_) {}
    // Ahead of the network's work, so that nothing waits for them behind it.
    NACELLE_INLINE void prepare() {
        fresh_.prepare();
        if (steps > 1) held_.prepare();
    }
    NACELLE_INLINE uint32_t bits() { return fresh_.bits(); }
    NACELLE_INLINE uint32_t noise() { return steps > 1 ? held_.bits() : fresh_.bits(); }

private:
    static NACELLE_INLINE Rng of(const View<E>& view, uint64_t tick, size_t row, uint32_t use) {
        return Rng(view.head.seed, Domain::policy, tick,
                   view.head.first_env * uint32_t(count_of<E, G>) + uint32_t(row),
                   use * uint32_t(most_groups) + uint32_t(group_index<E, G>()));
    }
    Rng fresh_, held_;
};
// Whether an environment is about to begin an episode.
template <class E> NACELLE_INLINE bool begins(const View<E>& view, size_t env) {
    return ended_before<E>(view, env) || length_at<E>(view, env) == 0;
}
// What is open to a row now, or null.
template <class E, class G>
NACELLE_INLINE const uint8_t* mask_now(const View<E>& view, size_t row) {
    if constexpr (has_mask<E, G>)
        return group_column<E, uint8_t, Role::mask, group_index<E, G>()>(view) +
               row * size_t(choices_in<ActionOf<E, G>>);
    else return nullptr;
}
// What a choice means goes into the action arrays.
template <class E, int policy>
NACELLE_INLINE void give(const View<E>& view, size_t row, const float* choice) {
    using G = GroupOf<E, policy>;
    ActionOf<E, G> action;
    Head<ActionOf<E, G>, Spec<policy>>::act(choice, action);
    store_row<E>(view.array, group_slot<E>(Role::action, Spec<policy>::group), row,
                 rows_of<E, G>(view), action);
}
// For an evaluation, in step a.step from now: nothing is kept. `out` is null for who acts at random.
template <class E, int policy>
NACELLE_INLINE void act_on(const View<E>& view, const Arguments& a, size_t row, const float* out) {
    using G = GroupOf<E, policy>;
    using H = Head<ActionOf<E, G>, Spec<policy>>;
    const uint8_t* const mask = mask_now<E, G>(view, row);
    Dice<E, policy> dice(view, view.head.clock->tick + a.step, row);
    float choice[H::parts];
    if (!out) H::uniform(mask, dice, choice);
    else if (a.greedy) H::best(out, mask, choice);
    else H::draw(out, mask, dice, choice);
    give<E, policy>(view, row, choice);
}

}
