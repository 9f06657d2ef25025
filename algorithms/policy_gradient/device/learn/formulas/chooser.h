#pragma once
#include <learn/formulas/choice.h>
#include <learn/formulas/observed.h>
#include <learn/layout/network.h>
// Choices for rows that lie in memory, one at a time, and what a rollout of one launch a step keeps of them.

namespace learn {

template <class E, int policy> struct Chooser {
    using G = GroupOf<E, policy>;
    using S = Observed<E, G>;
    using N = Networks<E, policy>;
    using H = Head<ActionOf<E, G>, Spec<policy>>;
    static constexpr int group = Spec<policy>::group;
    static constexpr size_t width = size_t(S::width), choices = size_t(choices_in<ActionOf<E, G>>);

    static NACELLE_INLINE size_t row_of(const Arguments& a, uint64_t agent) {
        return row_of_agent<E, policy>(a, uint32_t(agent));
    }
    static NACELLE_INLINE const float* obs_of(const View<E>& view, const Arguments& a, size_t row) {
        return S::now(view, a) + row * width;
    }
    static NACELLE_INLINE auto standing(const View<E>& view, const Arguments& a, size_t row) {
        return S::at_step(view, a, a.step, row);
    }
    // In step t of a rollout, and kept as one of its choices; `out` is null for who acts at random.
    static NACELLE_INLINE void draw(const View<E>& view, const Arguments& a, uint32_t t,
                                    uint64_t tick, size_t row, const float* out,
                                    float (&choice)[H::parts]) {
        const Memory& memory = a.memory[group];
        const size_t at = size_t(t) * rows_of<E, G>(view) + row;
        const uint8_t* const mask = mask_now<E, G>(view, row);
        for (size_t i = 0; i < (mask ? choices : 0); ++i) memory.mask[at * choices + i] = mask[i];
        Dice<E, policy> dice(view, tick, row);
        if (!out) H::uniform(mask, dice, choice);
        else memory.log_probability[at] = H::draw(out, mask, dice, choice);
        for (int i = 0; i < H::parts; ++i) memory.choice[at * H::parts + size_t(i)] = choice[i];
    }
    // For step a.step.
    static NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, size_t row,
                                      const float* out) {
        float choice[H::parts];
        draw(view, a, a.step, view.head.clock->tick + a.step, row, out, choice);
        give<E, policy>(view, row, choice);
    }
    // What a team sees is kept by its step, unless images belong to it.
    static constexpr bool keeps_obs = !is_team<E> || has_image<E>;
    static NACELLE_INLINE void keep_obs(const View<E>& view, const Arguments& a, size_t row) {
        if constexpr (keeps_obs) {
            keep_row<S::width>(a.memory[group], size_t(a.step) * rows_of<E, G>(view) + row, false,
                               obs_of(view, a, row));
        }
    }
    // Whether the row's episode was cut short in step t, and where it stood then.
    static NACELLE_INLINE const float* cut_at(const View<E>& view, const Arguments& a, uint32_t t,
                                              size_t row) {
        const uint8_t flag = a.memory[group].flag[size_t(t) * rows_of<E, G>(view) + row];
        return is_cut(flag) ? S::final(view, a) + row * width : nullptr;
    }
    // A network for values of its own looks at them later: until then they are kept.
    static NACELLE_INLINE void keep_cut(const View<E>& view, const Arguments& a, uint32_t t,
                                        size_t row) {
        if (const float* const obs = cut_at(view, a, t, row))
            keep_row<S::width>(a.memory[group], size_t(t) * rows_of<E, G>(view) + row, true, obs);
    }
};

}
