#pragma once
#include <learn/observations.h>
#include <learn/optimiser.h>
#include <learn/sight.h>
#if !defined(__CUDACC_RTC__)
#include <time.h>
#endif
#if NACELLE_GPU
#include <learn/gpu/choose.h>
#include <learn/gpu/update.h>
#include <learn/gpu/warp_pilot.h>
#include <learn/gpu/warp_player.h>
#include <learn/gpu/warp_update.h>
#include <learn/gpu/wide_weights.h>
#else
#include <learn/cpu/act.h>
#include <learn/cpu/update.h>
#endif
// The kernels of a policy gradient. The host writes the Specs and NACELLE_PROGRAM(), then some of these: a
// rollout, an iteration, a LEARN_GROUP for each group, and for each policy what its part and precision ask
// for.

namespace learn {

// Who of a group follows which policy, in the order of their numbers; once, when a run begins.
template <class E> NACELLE_INLINE void enlist(const View<E>&, const Arguments& a, Items items) {
    if (items.begin != 0) return;
    for_each_policy<E>([&]<int policy>() {
        int n = 0;
        for (int id = 0; id < count_of<E, GroupOf<E, policy>>; ++id)
            if (policy_of<E>(Spec<policy>::group, id) == policy)
                const_cast<int32_t*>(a.pupil[policy].agents)[n++] = id;
    });
}

// The moments of each minibatch's advantages, where those are scaled apart.
template <class E, int policy>
NACELLE_INLINE void measure_minibatch(const View<E>& view, const Arguments& a, Items items) {
    const Pupil& pupil = a.pupil[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const Minibatch<E, policy> batch(view, a);
    over_strips<3>(items, batch.count, pupil.slots, [&](uint32_t first, int n, Sums<3>& sums) {
        for (int i = 0; i < n; ++i) {
            const size_t at = batch.place(view, a, first + uint32_t(i));
            if (!counts(memory.flag[at])) continue;
            const double advantage = double(memory.advantage[at]);
            sums.at[0] += 1;
            sums.at[1] += advantage;
            sums.at[2] += advantage * advantage;
        }
    });
}
template <class E, int policy>
NACELLE_INLINE void scale_minibatch(const View<E>& view, const Arguments& a, Items items) {
    const Pupil& pupil = a.pupil[policy];
    const Sums<3> sums = sum_of<3>(pupil.slots, blocks_of(Minibatch<E, policy>(view, a).count));
    if (items.begin != 0) return;
    const Moments moments(sums.at[0], sums.at[1], sums.at[2]);
    pupil.found[advantage_mean] = moments.mean;
    pupil.found[advantage_scale] = moments.scale;
}

NACELLE_INLINE uint64_t nanoseconds() {
#if defined(__CUDACC_RTC__)
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
#endif
}
template <class E> NACELLE_INLINE void mark(const View<E>&, const Arguments& a, Items items) {
    if (items.begin == 0) a.marks[a.epoch] = nanoseconds();
}
template <class E> NACELLE_INLINE void finish(const View<E>&, const Arguments& a, Items items) {
    if (items.begin == 0) a.iteration[0] += 1;
}

}

#define LEARN_KERNEL(name, body) NACELLE_KERNEL(learn_##name, learn::Arguments, 128, learn::body)
// A body with a second parameter: kernels are templates over the environment alone.
#define LEARN_NUMBERED(name, number)                                                               \
    namespace learn {                                                                              \
    template <class E>                                                                             \
    NACELLE_INLINE void name##_##number(const View<E>& view, const Arguments& a, Items items) {    \
        name<E, number>(view, a, items);                                                           \
    }                                                                                              \
    }                                                                                              \
    LEARN_KERNEL(name##_##number, name##_##number)

#define LEARN_ITERATION()                                                                          \
    LEARN_KERNEL(enlist, enlist)                                                                   \
    LEARN_KERNEL(begin, begin)                                                                     \
    LEARN_KERNEL(mark, mark)                                                                       \
    LEARN_KERNEL(finish, finish)
#define LEARN_PLAYER(policy) LEARN_NUMBERED(act, policy)
#define LEARN_GROUP(group)                                                                         \
    LEARN_NUMBERED(measure_observations, group)                                                    \
    LEARN_NUMBERED(follow_observations, group)
#define LEARN_SEE(group) LEARN_NUMBERED(see, group)
#define LEARN_PREPARE(policy) LEARN_NUMBERED(prepare, policy)
// A whole rollout in one launch, by each agent's own thread or, on tensor cores, by warps; or one step of
// it, between which policies choose for rows in memory.
#define LEARN_ROLLOUT_THREADS()                                                                    \
    NACELLE_ENV_KERNEL(learn_rollout, learn::Arguments, learn::fly_threads)
#define LEARN_ROLLOUT_WARPS() NACELLE_KERNEL(learn_rollout, learn::Arguments, 64, learn::fly_warps)
#define LEARN_PLAY_WARPS() NACELLE_KERNEL(learn_play, learn::Arguments, 64, learn::play_warps)
#define LEARN_ROLLOUT_STEPS() NACELLE_ENV_KERNEL(learn_step, learn::Arguments, learn::step_once)
#define LEARN_CHOOSE(policy) LEARN_NUMBERED(choose, policy)
#define LEARN_LAND(policy) LEARN_NUMBERED(land, policy)
#define LEARN_APPRAISE(policy) LEARN_NUMBERED(appraise, policy)
#define LEARN_REVIEW(policy) LEARN_NUMBERED(review, policy)
#define LEARN_GRADIENT(policy) LEARN_NUMBERED(gradient, policy)
// A kernel with as many threads a block as its body expects, so many blocks of it at once on a multiprocessor.
#define LEARN_NUMBERED_BLOCKS(kernel, name, number, threads, resident)                             \
    namespace learn {                                                                              \
    template <class E>                                                                             \
    NACELLE_INLINE void name##_##number(const View<E>& view, const Arguments& a, Items items) {    \
        name<E, number>(view, a, items);                                                           \
    }                                                                                              \
    }                                                                                              \
    NACELLE_KERNEL_OF(learn_##kernel##_##number, learn::Arguments, threads, resident,              \
                      learn::name##_##number)
#define LEARN_GRADIENT_WARPS(policy, threads, resident)                                            \
    LEARN_NUMBERED_BLOCKS(gradient, gradient_warps, policy, threads, resident)
#define LEARN_GRADIENT_WIDE(policy)                                                                \
    LEARN_NUMBERED_BLOCKS(gradient, gradient_wide, policy, 256, 1)                                 \
    LEARN_NUMBERED_BLOCKS(weights, weights_wide, policy, 256, 1)
// On a GPU the sums decide themselves, at their end.
#if NACELLE_GPU
#define LEARN_DECIDE(policy)
#else
#define LEARN_DECIDE(policy) LEARN_NUMBERED(decide, policy)
#endif
#define LEARN_POLICY(policy)                                                                       \
    LEARN_NUMBERED(measure_returns, policy)                                                        \
    LEARN_NUMBERED(scale_rewards, policy)                                                          \
    LEARN_NUMBERED(find_advantages, policy)                                                        \
    LEARN_NUMBERED(sum_advantages, policy)                                                         \
    LEARN_NUMBERED(measure_minibatch, policy)                                                      \
    LEARN_NUMBERED(scale_minibatch, policy)                                                        \
    LEARN_NUMBERED(total, policy)                                                                  \
    LEARN_DECIDE(policy)                                                                           \
    LEARN_NUMBERED(adam, policy)
