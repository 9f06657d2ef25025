#pragma once
#include <nacelle/device/episode/lane.h>
// What is kept of episodes that have ended.

namespace nacelle::detail {

// What has ended since the lane was loaded. It reaches memory once, when the lane is put back. Sums of
// floats in double are exact for all but absurd spreads, so that their order does not matter.
struct Ledger {
    int episodes = 0, lengths = 0;
    double returns = 0, squares = 0;
    float last_return = 0;
    int last_length = 0;
};

// The statistics and the log of the episode that has ended.
template <class E>
NACELLE_INLINE void close_episode(const View<E>& view, uint64_t tick, size_t env,
                                  const Lane<E>& lane, Ledger& ledger) {
    ++ledger.episodes;
    ledger.last_return = lane.running;
    ledger.last_length = lane.length;
    ledger.lengths += ledger.last_length;
    ledger.returns += double(lane.running);
    ledger.squares += double(times(lane.running, lane.running));
    if constexpr (!same<LogOf<E>, None>) {
        LogOf<E> log =
            call_report<E>(lane.state, lane.params(view), episode_of<E>(view, tick, env, lane));
        store_row<E>(view.array, slot_of<E>(Role::log), env, view.head.envs, log);
        for_each_element(log, [&](auto leaf, int k, auto& value) {
            static_cast<float*>(
                view.array[slot_of<E>(Role::total) + 1 + leaf])[size_t(k) * view.head.envs + env] +=
                float(value);
        });
    }
}
// One warp of one launch writes a line of totals, so the order of additions is fixed; on a GPU they are
// sent off without waiting for the line to be read.
NACELLE_INLINE void add_to(double* sum, double more) {
#if defined(__CUDACC_RTC__)
    asm volatile("red.global.add.f64 [%0], %1;" ::"l"(sum), "d"(more) : "memory");
#else
    *sum += more;
#endif
}
template <class E>
NACELLE_INLINE void add_totals(const View<E>& view, size_t env, const Ledger& sums) {
    double* const total = static_cast<double*>(view.array[slot_of<E>(Role::total)]) +
                          env / group_envs * totals_kept<E>;
    add_to(total, sums.episodes);
    add_to(total + 1, sums.lengths);
    add_to(total + 2, sums.returns);
    add_to(total + 3, sums.squares);
}
#if NACELLE_GPU
// The warp's sums in the order of its lanes; `present` are the lanes that have an environment. Reading
// and writing a line for every lane that ended would cost more than the rest of a step.
template <class E>
NACELLE_INLINE void store_ledger(const View<E>& view, size_t env, const Ledger& ledger,
                                 uint32_t present) {
    uint32_t ended = __ballot_sync(present, ledger.episodes > 0);
    if (!ended) return;
    Ledger sums;
    NACELLE_ROLLED while (ended) {
        const int lane = __ffs(int(ended)) - 1;
        ended &= ended - 1;
        sums.episodes += __shfl_sync(present, ledger.episodes, lane);
        sums.lengths += __shfl_sync(present, ledger.lengths, lane);
        sums.returns += __shfl_sync(present, ledger.returns, lane);
        sums.squares += __shfl_sync(present, ledger.squares, lane);
    }
    if (threadIdx.x % 32 == 0) add_totals<E>(view, env, sums);
}
#endif

}
