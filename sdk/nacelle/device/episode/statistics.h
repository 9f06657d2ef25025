#pragma once
#include <nacelle/device/episode/local_env.h>
// Statistics of the episodes that have ended.

namespace nacelle::detail {

// What has ended since a launch began. It reaches memory once, at the end of the launch. Sums of
// floats in double are exact for all but absurd spreads, so that their order does not matter.
struct EpisodeSums {
    int episodes = 0, lengths = 0;
    double returns = 0, squares = 0;
    float last_return = 0;
    int last_length = 0;
};

// What the author's report() said of the episode that has ended.
template <class E> NACELLE_INLINE void keep_log(const View<E>& view, size_t env, LogOf<E> log) {
    store_row<E>(view.array, slot_of<E>(Role::log), env, view.head.envs, log);
    for_each_element(log, [&](auto leaf, int k, auto& value) {
        static_cast<float*>(
            view.array[slot_of<E>(Role::total) + 1 + leaf])[size_t(k) * view.head.envs + env] +=
            float(value);
    });
}
template <class E>
NACELLE_INLINE void close_episode(const View<E>& view, uint64_t tick, const LocalEnv<E>& local,
                                  EpisodeSums& sums) {
    ++sums.episodes;
    sums.last_return = local.running;
    sums.last_length = local.length;
    sums.lengths += sums.last_length;
    sums.returns += double(local.running);
    sums.squares += double(times(local.running, local.running));
    if constexpr (!same<LogOf<E>, None>)
        keep_log<E>(
            view, local.env,
            call_report<E>(local.state, local.params(view), episode_of<E>(view, tick, local)));
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
NACELLE_INLINE void add_totals(const View<E>& view, size_t env, const EpisodeSums& whole) {
    double* const total = static_cast<double*>(view.array[slot_of<E>(Role::total)]) +
                          env / group_envs * totals_kept<E>;
    add_to(total, whole.episodes);
    add_to(total + 1, whole.lengths);
    add_to(total + 2, whole.returns);
    add_to(total + 3, whole.squares);
}
#if NACELLE_GPU
// The warp's sums in the order of its lanes; `present` are the lanes that have an environment. Reading
// and writing a line for every environment that ended would cost more than the rest of a step.
template <class E>
NACELLE_INLINE void store_sums(const View<E>& view, size_t env, const EpisodeSums& sums,
                               uint32_t present) {
    if constexpr (gpu_draft) {    // in any order
        if (sums.episodes > 0) add_totals<E>(view, env, sums);
    } else {
        uint32_t ended = __ballot_sync(present, sums.episodes > 0);
        if (!ended) return;
        EpisodeSums whole;
        NACELLE_ROLLED while (ended) {
            const int from = __ffs(int(ended)) - 1;
            ended &= ended - 1;
            whole.episodes += __shfl_sync(present, sums.episodes, from);
            whole.lengths += __shfl_sync(present, sums.lengths, from);
            whole.returns += __shfl_sync(present, sums.returns, from);
            whole.squares += __shfl_sync(present, sums.squares, from);
        }
        if (threadIdx.x % 32 == 0) add_totals<E>(view, env, whole);
    }
}
#endif

}
