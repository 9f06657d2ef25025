#pragma once
#include <learn/choice.h>
#include <learn/gpu/thread_layers.h>
#include <learn/sight.h>
// The policies in the loop of a rollout on a GPU: each agent's thread runs its network.

namespace learn {

// One row of a group at step t, and what came of it.
template <class E, class G> struct Rower {
    using S = Sight<E, G>;
    static constexpr int group = S::group, width = S::width, choices = choices_in<ActionOf<E, G>>;

    template <class Fn> static NACELLE_INLINE void with_policy(size_t row, Fn&& fn) {
        for_each_policy_of<E, group>([&]<int policy>() {
            if (follows<E, G, policy>(row)) fn.template operator()<policy>();
        });
    }
    // What is written down at step t, and the action.
    static NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, uint64_t tick, int t,
                                      size_t row, const float* obs, const uint8_t* mask,
                                      ActionOf<E, G>& action) {
        const Memory& memory = a.memory[group];
        const size_t at = size_t(t) * rows_of<E, G>(view) + row;
        for (int i = 0; i < (mask ? choices : 0); ++i)
            memory.mask[at * size_t(choices) + size_t(i)] = mask[i];
        with_policy(row, [&]<int policy>() {
            using H = Head<ActionOf<E, G>, Spec<policy>>;
            Dice<E, policy> dice(view, tick, row);
            float choice[H::parts];
            choose_by<policy>(a, at, obs, mask, dice, choice);
            for (int i = 0; i < H::parts; ++i) memory.choice[at * H::parts + size_t(i)] = choice[i];
            H::act(choice, action);
        });
    }
    template <int policy>
    static NACELLE_INLINE void choose_by(const Arguments& a, size_t at, const float* obs,
                                         const uint8_t* mask, Dice<E, policy>& dice,
                                         float* choice) {
        using H = Head<ActionOf<E, G>, Spec<policy>>;
        if constexpr (Spec<policy>::kind == Kind::random) H::uniform(mask, dice, choice);
        else {
            const Memory& memory = a.memory[group];
            ThreadMind<E, policy> mind(a);
            memory.log_probability[at] = H::draw(mind.think(obs), mask, dice, choice);
            memory.value[at] = mind.judge(obs);
        }
    }
    // The value of where an episode was cut short in step t.
    static NACELLE_INLINE void settle(const View<E>& view, const Arguments& a, int t, size_t row) {
        const Memory& memory = a.memory[group];
        const size_t at = size_t(t) * rows_of<E, G>(view) + row;
        if (!is_cut(memory.flag[at])) return;
        const float* const obs = S::final(view, a) + row * size_t(width);
        with_policy(row, [&]<int policy>() { value_by<policy>(a, obs, memory.final_value[at]); });
    }
    template <int policy>
    static NACELLE_INLINE void value_by(const Arguments& a, const float* obs, float& to) {
        if constexpr (Spec<policy>::kind == Kind::trained) to = ThreadMind<E, policy>(a).value(obs);
    }
};

// The record of a team has put the observations where they are kept.
template <class E> struct Pilot {
    const Arguments& a;

    template <class Rows> NACELLE_INLINE void choose(Rows& rows) const {
        using R = Rower<E, typename Rows::Group>;
        const View<E>& view = rows.view;
        if (rows.t > 0) rows.for_all([&](int i) { R::settle(view, a, rows.t - 1, rows.row(i)); });
        rows.for_own([&](int i) {
            const size_t row = rows.row(i);
            const float* const obs = rows.obs(i);
            if constexpr (!is_team<E>) {
                float* const kept =
                    a.memory[0].obs + (size_t(rows.t) * view.head.envs + row) * size_t(R::width);
                for (int k = 0; k < R::width; ++k) kept[k] = obs[k];
            }
            ActionOf<E, typename Rows::Group> action;
            R::choose(view, a, rows.tick, rows.t, row, obs, rows.mask(i), action);
            rows.give(i, action);
        });
    }
};

template <class E>
NACELLE_INLINE void fly_threads(const View<E>& view, const Arguments& a, Items items) {
    rollout<E>(view, items, 0, int(a.steps), Pilot<E>{a}, record_of<E>(view, a, 0));
}
// The values of where a policy's rows stand when the rollout ends: an item for each seat.
template <class E, int policy>
NACELLE_INLINE void land_threads(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupOf<E, policy>;
    using R = Rower<E, G>;
    if (items.begin >= a.pupil[policy].seats || time_of(view.head, 0).stopped) return;
    const Memory& memory = a.memory[Spec<policy>::group];
    const size_t row = row_of_seat<E, policy>(a, uint32_t(items.begin)),
                 at = size_t(a.steps) * rows_of<E, G>(view) + row;
    const float* const obs = R::S::now(view, a) + row * size_t(R::width);
    for (int k = 0; k < R::width; ++k) memory.obs[at * size_t(R::width) + size_t(k)] = obs[k];
    R::settle(view, a, int(a.steps) - 1, row);
    R::template value_by<policy>(a, obs, memory.value[at]);
}

}
