#pragma once
#include <nacelle/programs/arguments.h>
#include <nacelle/sample.h>
// Random actions for many steps in one launch, everything recorded: what `bench` measures.

namespace nacelle {

namespace detail {

template <class E>
NACELLE_INLINE void random_rollout_body(const View<E>& view, const RandomRolloutArgs& args,
                                        Items items) {
    const size_t envs = view.head.envs;
    const RandomRolloutArgs to = args;
    RandomPolicy<E> policy;
    rollout<E>(view, items, args.ahead, int(args.steps), policy,
               [=](const Now& now, const A<E>& action, const Outcome& outcome) {
                   const size_t at = size_t(now.t) * envs + now.env;
                   store_row_of_floats<numbers_in<O<E>>>(now.obs, to.obs + at * numbers_in<O<E>>);
                   to.reward[at] = outcome.reward;
                   to.ended[at] = uint8_t(outcome.terminated | outcome.truncated << 1);
                   int part = 0;
                   for_each_element(action, [&](auto, int, const auto& a) {
                       const auto value = a.value;
                       to.action[at + size_t(part++) * size_t(to.steps) * envs] =
                           __builtin_bit_cast(int32_t, value);
                   });
               });
}

}
}

#define NACELLE_RANDOM_ROLLOUT()                                                                   \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_KERNEL(nacelle_random_rollout, nacelle::RandomRolloutArgs, 128,                        \
                   nacelle::detail::random_rollout_body)
