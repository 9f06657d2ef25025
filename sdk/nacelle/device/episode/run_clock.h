#pragma once
#include <nacelle/view.h>
// The clock of the run, and the latch that holds the first number that was not finite.

namespace nacelle::detail {

// An action that is not finite explains the reward or the observation after it, and is noted instead. A step with finite
// results never looks at the action.
template <class Action>
NACELLE_INLINE void note_bad(const ViewHead& head, Bad what, uint64_t tick, size_t row,
                             const Action& action) {
    for_each_element(action, [&](auto, int, const auto& part) {
        if (!(magnitude(float(part.value)) < infinity)) what = Bad::action;
    });
    const uint64_t key = uint64_t(uint32_t(tick)) << 32 | uint32_t(what) << bad_row_bits |
                         (uint32_t(row) & ((1u << bad_row_bits) - 1));
#if NACELLE_GPU
    atomicMin(reinterpret_cast<unsigned long long*>(&head.clock->bad),
              static_cast<unsigned long long>(key));
#else
    uint64_t seen = __atomic_load_n(&head.clock->bad, __ATOMIC_RELAXED);
    while (key < seen && !__atomic_compare_exchange_n(&head.clock->bad, &seen, key, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}
// The tick of a launch, and whether a number was not finite before it: then no array may change.
struct Time {
    uint64_t tick;
    bool stopped;
};
NACELLE_INLINE Time time_of(const ViewHead& head, uint32_t ahead) {
#if NACELLE_GPU && !defined(NACELLE_EMULATE)
    const ulonglong2 both =
        *reinterpret_cast<const ulonglong2*>(head.clock);    // one load: all else waits for it
    const RunClock now{both.x, both.y};
#else
    const RunClock now{head.clock->tick, __atomic_load_n(&head.clock->bad, __ATOMIC_RELAXED)};
#endif
    const uint64_t tick = now.tick + ahead;
    return {tick, now.bad != ~uint64_t(0) && int32_t(uint32_t(tick) - uint32_t(now.bad >> 32)) > 0};
}

}
