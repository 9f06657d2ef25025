#pragma once
#include <nacelle/advance.h>
// Runs environments for a number of steps with a policy in the loop:
//
//     rollout<E>(view, items, tick, steps, policy,
//         [&](const Now& now, const ActionOf<E>& action, const Outcome& outcome) { ... });   // record
//
// policy.act(view, now, action) chooses for one environment. On a CPU policy.block(view, tick, begin, count)
// comes first, once for a block of them, and returns the small object whose act() is then called.
//
// One step is a rollout of length one: there is no second loop. On a GPU an environment's state stays
// in its thread's registers for all steps; on a CPU blocks of environments take each step in three
// passes (step, ends, look), so that the first and the last vectorise.

namespace nacelle {

// Where a rollout stands when it asks for an action.
struct Now {
    size_t env;
    int t;                   // within this rollout
    uint64_t tick;
    const float* obs;        // the numbers of the current observation
    const uint8_t* mask;     // what is allowed, or null
};

namespace detail {

NACELLE_INLINE void note_bad(uint64_t* latch, uint64_t tick, size_t row) {
    const uint64_t key = uint64_t(uint32_t(tick)) << 32 | uint32_t(row);
#if NACELLE_GPU
    atomicMin(reinterpret_cast<unsigned long long*>(latch), static_cast<unsigned long long>(key));
#else
    uint64_t seen = __atomic_load_n(latch, __ATOMIC_RELAXED);
    while (key < seen && !__atomic_compare_exchange_n(latch, &seen, key, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}
// Something was not finite before this tick: the arrays must stay as they are.
NACELLE_INLINE bool stopped(const ViewHead& head, uint64_t tick) {
    const uint64_t reward = head.latch->reward, obs = head.latch->obs, first = reward < obs ? reward : obs;
    return first != ~uint64_t(0) && int32_t(uint32_t(tick) - uint32_t(first >> 32)) > 0;
}

template <class E> struct Columns {
    float* reward;
    uint8_t *terminated, *truncated;
    explicit NACELLE_INLINE Columns(const View<E>& view)
        : reward(column<E, float, Role::reward>(view)), terminated(column<E, uint8_t, Role::terminated>(view)), truncated(column<E, uint8_t, Role::truncated>(view)) {}
};

#if NACELLE_GPU
template <class E> NACELLE_INLINE void turn_over(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane) {
    observe_row<E, Role::final_obs>(view, tick, env, lane, obs_row<E, Role::final_obs>(view, env));
    close_episode<E>(view, tick, env, lane);
    open_episode<E>(view, tick, env, lane, false);
}
#endif

}
}

#if NACELLE_GPU
#include <nacelle/detail/rollout_gpu.h>
#else
#include <nacelle/detail/rollout_cpu.h>
#endif
