#pragma once
#include <nacelle/advance.h>
// Runs environments for a number of steps with a policy in the loop:
//
//     rollout<E>(view, items, ahead, steps, policy,
//         [&](const Now& now, const ActionOf<E>& action, const Outcome& outcome) { ... });   // record
//
// policy.act(view, now, action) chooses for one environment. On a CPU policy.block(view, tick, t, begin, count)
// comes first, once for a block of them, and returns the small object whose act() is then called.
//
// One step is a rollout of length one: there is no second loop. On a GPU an environment's state stays
// in its thread's registers for all steps; on a CPU blocks of environments take each step in three
// passes (step, ends, look), so that the first and the last vectorise.

namespace nacelle {

// Where a rollout stands when it asks for an action.
struct Now {
    size_t env;
    int t;    // within this rollout
    uint64_t tick;
    const float* obs;       // the numbers of the current observation
    const uint8_t* mask;    // what is allowed, or null
};

namespace detail {

enum class Bad : uint32_t { reward, obs };
NACELLE_INLINE void note_bad(const ViewHead& head, Bad what, uint64_t tick, size_t row) {
    const uint64_t key = uint64_t(uint32_t(tick)) << 32 | uint32_t(row) << 1 | uint32_t(what);
#if NACELLE_GPU
    atomicMin(reinterpret_cast<unsigned long long*>(&head.beat->bad),
              static_cast<unsigned long long>(key));
#else
    uint64_t seen = __atomic_load_n(&head.beat->bad, __ATOMIC_RELAXED);
    while (key < seen && !__atomic_compare_exchange_n(&head.beat->bad, &seen, key, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}
// The tick of a launch, and whether something was not finite before it: the arrays must stay then.
struct Time {
    uint64_t tick;
    bool stopped;
};
NACELLE_INLINE Time time_of(const ViewHead& head, uint32_t ahead) {
#if NACELLE_GPU && !defined(NACELLE_EMULATE)
    const ulonglong2 both =
        *reinterpret_cast<const ulonglong2*>(head.beat);    // one load: all else waits for it
    const Beat beat{both.x, both.y};
#else
    const Beat beat{head.beat->clock, __atomic_load_n(&head.beat->bad, __ATOMIC_RELAXED)};
#endif
    const uint64_t tick = beat.clock + ahead;
    return {tick,
            beat.bad != ~uint64_t(0) && int32_t(uint32_t(tick) - uint32_t(beat.bad >> 32)) > 0};
}

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
#include <nacelle/detail/rollout_gpu.h>
#else
#include <nacelle/detail/rollout_cpu.h>
#endif
