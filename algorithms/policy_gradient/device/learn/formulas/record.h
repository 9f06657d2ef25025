#pragma once
#include <learn/formulas/past.h>
#include <learn/layout/kept.h>
#include <nacelle/sample.h>
// What a rollout writes down of each row.

namespace learn {

NACELLE_INLINE uint8_t flag_of(const Outcome& outcome, bool acts) {
    return uint8_t((outcome.terminated ? terminated : 0) | (outcome.truncated ? truncated : 0) |
                   (acts ? acted : 0));
}
// An episode that was cut short: what would have come is worth the value of where it stood.
NACELLE_INLINE bool is_cut(uint8_t flag) { return (flag & (terminated | truncated)) == truncated; }

// Whether anything is to be learnt from a step.
NACELLE_INLINE bool counts(uint8_t flag) { return (flag & (acted | unsettled)) == acted; }
// The flag of a step as far as whether it counts: without turns every step does, and none is looked up.
template <class E, class G> NACELLE_INLINE uint8_t counting_flag(const Memory& memory, size_t at) {
    if constexpr (has_turn<E, G>) return memory.flag[at];
    else return acted;
}

// `first` is the step of the whole rollout that a launch begins with.
//
// What critics see of an environment behind step t, or where it ended its episode, goes to overview(env, t, final).
NACELLE_INLINE float* kept_overview(const Overviews& all, size_t envs, size_t env, size_t step,
                                    bool final) {
    return (final ? all.final_obs + (step * envs + env) * size_t(overview_width)
                  : all.obs + ((step + 1) * envs + env) * size_t(overview_width));
}
template <class E> struct AloneRecord {
    Memory to;
    size_t rows;
    uint32_t first = 0;
    Overviews all = {};

    NACELLE_INLINE float* overview(size_t env, int t, bool final) const
        requires(overview_width > 0) {
        return kept_overview(all, rows, env, first + size_t(t), final);
    }
    NACELLE_INLINE void operator()(const Now& now, const ActionOf<E>&,
                                   const Outcome& outcome) const {
        const size_t at = (first + size_t(now.t)) * rows + now.row;
        to.reward[at] = outcome.reward;
        to.flag[at] = flag_of(outcome, true);
    }
};

template <class E> struct TeamRecord {
    const View<E>& view;
    const Arguments& to;
    uint32_t first = 0;

    NACELLE_INLINE bool goes_on() const { return first > 0; }
    NACELLE_INLINE float* overview(size_t env, int t, bool final) const
        requires(overview_width > 0) {
        return kept_overview(*to.overviews, view.head.envs, env, first + size_t(t), final);
    }
    NACELLE_INLINE void over(LocalTeam<E>& local) const requires(game_of<E>() != Against::none) {
        note_result<E>(to, local);
    }
    // Where observations are kept at once; images and the numbers before them are put together later. What comes of
    // the last step lies in the environment's array, in which the next rollout begins.
    NACELLE_INLINE float* rows(int group, int t) const requires(!has_image<E> && !keeps_pairs) {
        float* found = nullptr;
        if (first + uint32_t(t) >= to.steps) return found;
        for_each_group<E>([&]<class G, int I>() {
            if (I == group)
                found = to.memory[I].obs +
                        (first + size_t(t)) * rows_of<E, G>(view) * size_t(numbers_in<ObsOf<E, G>>);
        });
        return found;
    }
#if NACELLE_GPU
    template <int group> NACELLE_INLINE auto packed(int t) const requires(keeps_pairs) {
        using G = GroupNumber<E, group>;
        constexpr int width = numbers_in<ObsOf<E, G>>;
        const Memory& memory = to.memory[group];
        const size_t step = first + size_t(t);
        KeptPairs<width> kept{nullptr, memory.mean, memory.scale};
        if (step < to.steps)
            kept.rows = memory.pairs + step * rows_of<E, G>(view) * size_t(kept_words(width));
        return kept;
    }
#endif
    template <class G>
    NACELLE_INLINE void operator()(const Now& now, const Member<E, G>& me,
                                   const Outcome& outcome) const {
        const Memory& memory = to.memory[group_index<E, G>()];
        const size_t at = (first + size_t(now.t)) * rows_of<E, G>(view) + now.row;
        memory.reward[at] = outcome.reward;
        memory.flag[at] = flag_of(outcome, me.acts);
    }
};

// What the launch that begins with this step of the rollout writes down.
template <class E>
NACELLE_INLINE auto record_of(const View<E>& view, const Arguments& a, uint32_t first) {
    if constexpr (is_team<E>) return TeamRecord<E>{view, a, first};
    else if constexpr (overview_width > 0)
        return AloneRecord<E>{a.memory[0], size_t(view.head.envs), first, *a.overviews};
    else return AloneRecord<E>{a.memory[0], size_t(view.head.envs), first};
}
// What critics see when a rollout begins; an item is a number.
template <class E, int>
NACELLE_INLINE void begin_overviews(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t numbers = uint64_t(view.head.envs) * uint64_t(overview_width);
    const auto* const now = static_cast<const float*>(view.array[slot_of<E>(Role::global)]);
    for (uint64_t i = items.begin; i < min(items.end, numbers); ++i) a.overviews->obs[i] = now[i];
}
// One step of a rollout of one launch a step; the choices are in the action arrays.
template <class E>
NACELLE_INLINE void step_once(const View<E>& view, const Arguments& a, Items items) {
    rollout<E>(view, items, a.step, Index<1>{}, GivenPolicy<E>{}, record_of<E>(view, a, a.step));
}

}
