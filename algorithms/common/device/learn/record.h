#pragma once
#include <learn/spec.h>
// What a rollout writes down of each row.

namespace learn {

NACELLE_INLINE uint8_t flag_of(const Outcome& outcome, bool acts) {
    return uint8_t((outcome.terminated ? terminated : 0) | (outcome.truncated ? truncated : 0) |
                   (acts ? acted : 0));
}
// An episode that was cut short: what would have come is worth the value of where it stood.
NACELLE_INLINE bool is_cut(uint8_t flag) { return (flag & (terminated | truncated)) == truncated; }

template <class E> struct AloneRecord {
    Memory to;
    size_t rows;
    NACELLE_INLINE void operator()(const Now& now, const ActionOf<E>&,
                                   const Outcome& outcome) const {
        const size_t at = size_t(now.t) * rows + now.row;
        to.reward[at] = outcome.reward;
        to.flag[at] = flag_of(outcome, true);
    }
};

template <class E> struct TeamRecord {
    const View<E>& view;
    const Arguments& to;

    NACELLE_INLINE float* rows(int group, int t) const {
        float* found = nullptr;
        for_each_group<E>([&]<class G, int I>() {
            if (I == group)
                found = to.memory[I].obs +
                        size_t(t) * rows_of<E, G>(view) * size_t(numbers_in<ObsOf<E, G>>);
        });
        return found;
    }
    template <class G>
    NACELLE_INLINE void operator()(const Now& now, const Member<E, G>& me,
                                   const Outcome& outcome) const {
        const Memory& memory = to.memory[group_index<E, G>()];
        const size_t at = size_t(now.t) * rows_of<E, G>(view) + now.row;
        memory.reward[at] = outcome.reward;
        memory.flag[at] = flag_of(outcome, me.acts);
    }
};

}
