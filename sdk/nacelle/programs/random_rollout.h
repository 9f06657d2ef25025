#pragma once
#include <nacelle/programs/arguments.h>
#include <nacelle/sample.h>
// Random actions for many steps in one launch, everything recorded: what `bench` measures.

namespace nacelle {

namespace detail {

template <class A>
NACELLE_INLINE void record_row(const RandomRolloutArgs::Rows& to, size_t at, size_t samples,
                               const A& action, const Outcome& outcome) {
    store_streaming(to.reward[at], outcome.reward);
    store_streaming(to.ended[at], uint8_t(outcome.terminated | outcome.truncated << 1));
    int part = 0;
    for_each_element(action, [&](auto, int, const auto& a) {
        const auto value = a.value;
        store_streaming(to.action[at + size_t(part++) * samples],
                        __builtin_bit_cast(int32_t, value));
    });
}

// What a team's steps are recorded by.
template <class E> struct TeamRecord {
    const View<E>& view;
    const RandomRolloutArgs& to;

    static constexpr bool goes_on() { return false; }
    NACELLE_INLINE float* rows(int group, int t) const {
        float* found = nullptr;
        if (t >= int(to.steps)) return found;
        for_each_group<E>([&]<class G, int I>() {
            if (I == group)
                found = to.group[I].obs +
                        size_t(t) * rows_of<E, G>(view) * size_t(numbers_in<ObsOf<E, G>>);
        });
        return found;
    }
    template <class G>
    NACELLE_INLINE void operator()(const Now& now, const Member<E, G>& me,
                                   const Outcome& outcome) const {
        const size_t rows = rows_of<E, G>(view);
        record_row(to.group[group_index<E, G>()], size_t(now.t) * rows + now.row,
                   size_t(to.steps) * rows, me.action, outcome);
    }
};

template <class E>
NACELLE_INLINE void random_rollout_body(const View<E>& view, const RandomRolloutArgs& args,
                                        Items items) {
    RandomPolicy<E> policy;
    if constexpr (is_team<E>) {
        rollout<E>(view, items, args.ahead, int(args.steps), policy, TeamRecord<E>{view, args});
    } else {
        const size_t envs = view.head.envs, samples = size_t(args.steps) * envs;
        const RandomRolloutArgs::Rows to = args.group[0];
        rollout<E>(view, items, args.ahead, int(args.steps), policy,
                   [=](const Now& now, const A<E>& action, const Outcome& outcome) {
                       const size_t at = size_t(now.t) * envs + now.env;
                       store_row_of_floats<numbers_in<O<E>>>(now.obs,
                                                             to.obs + at * numbers_in<O<E>>);
                       record_row(to, at, samples, action, outcome);
                   });
    }
}

}
}

#define NACELLE_RANDOM_ROLLOUT()                                                                   \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_ENV_KERNEL_OF(nacelle_random_rollout, nacelle::RandomRolloutArgs,                      \
                          nacelle::detail::Shape<nacelle::Author>::at_once,                        \
                          nacelle::detail::random_rollout_body)
