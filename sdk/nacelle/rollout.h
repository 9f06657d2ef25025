#pragma once
#include <nacelle/device/episode/advance.h>
// Runs environments for a number of steps with a policy in the loop:
//
//     rollout<E>(view, items, ahead, steps, policy,
//         [&](const Now& now, const ActionOf<E>& action, const Outcome& outcome) { ... });   // record
//
// Each step policy.choose(rows) chooses for some rows at once, one row for each agent: a CPU calls it with a
// block of environments, a GPU's thread with the one that is its own. What rows offer:
//
//     rows.view, rows.tick, rows.t       the environments, the clock, the step within this rollout
//     rows.for_own([&](int i) { ... })   for each row that this thread answers for and that acts in this step
//     rows.obs(i), rows.mask(i)          the numbers of the current observation; what is allowed, or null
//     rows.give(i, action)               what row i does, an ActionOf<E, typename Rows::Group>
//     rows.row(i), rows.env_of(i)        its number in its group; the environment's number
//
// A policy gives an action to each row that for_own() visits: what a step begins with is done there.
// rows.for_all(fn) also visits those whose agents wait for their turn.
//
// A policy with `static constexpr bool chooses_by_warp` is called by whole warps of a GPU, also by
// threads that have no environment. With one agent theirs is an empty for_own(), and a rows.env that is no
// environment's number. With teams it is called for each group, gets a row for each lane by
// rows.by_warps(...), and is called once more behind the last step, when rows.t is the number of steps.
//
// A `record` that has rows(group, t) says where a team's observations of step t go, so that they are written once, or
// null for the environment's own array; those of the first step are copied there unless record.goes_on() says that they
// lie there already. One that has packed<group>(t) keeps them in a form of its own (device/team/packed_rows.h).
//
// On a CPU a `record` of one agent that has stepped(...) is told behind each step of a block which episodes have ended, and
// one that has ended(env, sums) of each of them, before its environment begins another, and a little earlier await(env).
//
// One step is a rollout of length one: there is no second loop. On a GPU an environment's state stays
// in its thread's registers for all steps, unless it shows images; on a CPU blocks of environments take each step in passes
// (choose, step, ends, look), so that all but the ends vectorise.

namespace nacelle {

// Where a rollout stood when a step was taken.
struct Now {
    size_t env;
    size_t row;    // of the agent, in its group
    int t;         // within this rollout
    uint64_t tick;
    const float* obs;    // of one agent: the numbers by which it chose
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
                            Policy&& policy, Record record) {
    if constexpr (detail::is_team<E>)
        detail::rollout_teams<E>(view, items, ahead, steps, policy, record);
    else detail::rollout_alone<E>(view, items, ahead, steps, policy, record);
}

}
