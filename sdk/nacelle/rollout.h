#pragma once
#include <nacelle/advance.h>
#include <nacelle/device/team/team_step.h>
// Runs environments for a number of steps with a policy in the loop:
//
//     rollout<E>(view, items, ahead, steps, policy,
//         [&](const Now& now, const ActionOf<E>& action, const Outcome& outcome) { ... });   // record
//
// policy.act(view, now, action) chooses for one environment. On a CPU policy.block(view, tick, t, begin, count)
// comes first, once for a block of them, and returns the small object whose act() is then called. For teams
// both are templates over the group, policy.template act<G>(...), and all is said of rows, one for each agent;
// a `record` that has rows(group, t) says where observations go, so that they are written once.
//
// On a GPU a policy with `static constexpr bool acts_together` is called by whole warps, with one agent: also
// by the threads whose `now.env` is no environment, as where a warp takes only 16 of them.
//
// One step is a rollout of length one: there is no second loop. On a GPU an environment's state stays
// in its thread's registers for all steps; on a CPU blocks of environments take each step in three
// passes (step, ends, look), so that the first and the last vectorise.

namespace nacelle {

// Where a rollout stands when it asks for an action.
struct Now {
    size_t env;
    size_t row;    // of the agent, in its group
    int t;         // within this rollout
    uint64_t tick;
    const float* obs;       // the numbers of the current observation
    const uint8_t* mask;    // what is allowed, or null
};

namespace detail {

template <class E> struct Columns {
    float* reward;
    uint8_t *terminated, *truncated;
    explicit NACELLE_INLINE Columns(const View<E>& view)
        : reward(column<E, float, Role::reward>(view)),
          terminated(column<E, uint8_t, Role::terminated>(view)),
          truncated(column<E, uint8_t, Role::truncated>(view)) {}
};

}
}

#if NACELLE_GPU
#include <nacelle/device/loop/rollout_gpu.h>
#else
#include <nacelle/device/loop/rollout_cpu.h>
#endif
#include <nacelle/device/loop/rollout_team.h>

namespace nacelle {

// `steps`: a number, or detail::Index<1>{} where it is known to be one.
template <class E, class Steps, class Policy, class Record>
NACELLE_INLINE void rollout(const View<E>& view, Items items, uint32_t ahead, Steps steps,
                            Policy& policy, Record record) {
    if constexpr (detail::is_team<E>)
        detail::rollout_teams<E>(view, items, ahead, steps, policy, record);
    else detail::rollout_alone<E>(view, items, ahead, steps, policy, record);
}

}
