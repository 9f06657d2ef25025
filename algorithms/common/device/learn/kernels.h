#pragma once
#include <learn/observations.h>
#include <learn/observed.h>
#include <learn/optimiser.h>
#if !defined(__CUDACC_RTC__)
#include <time.h>
#endif
#if NACELLE_GPU
#include <learn/gpu/fused/choices.h>
#include <learn/gpu/fused/evaluation.h>
#include <learn/gpu/fused/rollout.h>
#include <learn/gpu/fused/update.h>
#include <learn/gpu/streamed/conv_weights.h>
#include <learn/gpu/streamed/products.h>
#include <learn/gpu/streamed/slopes.h>
#include <learn/gpu/streamed/sums.h>
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
                const_cast<int32_t*>(a.policy[policy].agent_ids)[n++] = id;
    });
}

// The moments of each minibatch's advantages, where those are scaled apart.
template <class E, int policy>
NACELLE_INLINE void measure_minibatch(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const Minibatch<E, policy> batch(view, a);
    over_strips<3>(items, batch.count, state.slots, [&](uint32_t first, int n, Sums<3>& sums) {
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
    const PolicyState& state = a.policy[policy];
    const Sums<3> sums = sum_of<3>(state.slots, blocks_of(Minibatch<E, policy>(view, a).count));
    if (items.begin != 0) return;
    const Moments moments(sums.at[0], sums.at[1], sums.at[2]);
    state.found[advantage_mean] = moments.mean;
    state.found[advantage_scale] = moments.scale;
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
// A body with more parameters than the environment, under a name that takes it alone: kernels are such templates.
#define LEARN_BODY(name, Args, ...)                                                                \
    namespace learn {                                                                              \
    template <class E> NACELLE_INLINE void name(const View<E>& view, const Args& a, Items items) { \
        __VA_ARGS__(view, a, items);                                                               \
    }                                                                                              \
    }
#define LEARN_NUMBERED(name, number) LEARN_NUMBERED_AS(name, name, number)
#define LEARN_NUMBERED_AS(kernel, name, number)                                                    \
    LEARN_BODY(name##_##number, Arguments, name<E, number>)                                        \
    LEARN_KERNEL(kernel##_##number, name##_##number)

#define LEARN_ENLIST() LEARN_KERNEL(enlist, enlist)
#define LEARN_ITERATION()                                                                          \
    LEARN_KERNEL(begin, begin)                                                                     \
    LEARN_KERNEL(mark, mark)                                                                       \
    LEARN_KERNEL(finish, finish)
#define LEARN_PLAYER(policy) LEARN_NUMBERED(act, policy)
#define LEARN_GROUP(group)                                                                         \
    LEARN_NUMBERED(measure_observations, group)                                                    \
    LEARN_NUMBERED(follow_observations, group)
#define LEARN_GATHER_IMAGES(group) LEARN_NUMBERED(gather_images, group)
#define LEARN_PREPARE(policy) LEARN_NUMBERED(prepare, policy)
// A whole rollout in one launch, by a CPU's blocks or by a GPU's warps; or one step of it, between which policies
// choose for rows in memory.
#define LEARN_ROLLOUT_THREADS()                                                                    \
    NACELLE_ENV_KERNEL(learn_rollout, learn::Arguments, learn::rollout_blocks)
#define LEARN_ROLLOUT_WARPS()                                                                      \
    NACELLE_KERNEL(learn_rollout, learn::Arguments, 64, learn::rollout_warps)
#define LEARN_PLAY_WARPS() NACELLE_KERNEL(learn_play, learn::Arguments, 64, learn::play_warps)
#define LEARN_ROLLOUT_STEPS() NACELLE_ENV_KERNEL(learn_step, learn::Arguments, learn::step_once)
#define LEARN_CHOOSE(policy) LEARN_NUMBERED(choose, policy)
#define LEARN_RANDOM(policy) LEARN_NUMBERED_AS(act, act_randomly, policy)
#define LEARN_CHOOSE_RANDOMLY(policy) LEARN_NUMBERED_AS(choose, choose_randomly, policy)
#define LEARN_CLOSE_ROLLOUT(policy) LEARN_NUMBERED(close_rollout, policy)
#define LEARN_FIND_VALUES(policy) LEARN_NUMBERED(find_values, policy)
#define LEARN_REVIEW(policy) LEARN_NUMBERED(review, policy)
#define LEARN_GRADIENT(policy) LEARN_NUMBERED(gradient, policy)
// A kernel with as many threads a block as its body expects, so many blocks of it at once on a multiprocessor.
#define LEARN_NUMBERED_BLOCKS(kernel, name, number, threads, resident)                             \
    LEARN_BODY(name##_##number, Arguments, name<E, number>)                                        \
    NACELLE_KERNEL_OF(learn_##kernel##_##number, learn::Arguments, threads, resident,              \
                      learn::name##_##number)
#define LEARN_GRADIENT_WARPS(policy, threads, resident)                                            \
    LEARN_NUMBERED_BLOCKS(gradient, gradient_warps, policy, threads, resident)
// Networks whose layers go through memory: what a stream of rows asks for, and the layers' products.
#define LEARN_STREAM(kernel, name, number)                                                         \
    LEARN_BODY(name##_##number, StreamArguments, name<E, number>)                                  \
    NACELLE_KERNEL(learn_##kernel##_##number, learn::StreamArguments, 128, learn::name##_##number)
#define LEARN_STREAM_PLAYER(policy)                                                                \
    LEARN_STREAM(gather_now, gather_now, policy)                                                   \
    LEARN_STREAM(act, act_streamed, policy)
#define LEARN_STREAM_ROLLOUT(policy)                                                               \
    LEARN_STREAM(gather_step, gather_step, policy)                                                 \
    LEARN_STREAM(choose, choose_streamed, policy)
#define LEARN_STREAM_LEARNER(policy)                                                               \
    LEARN_STREAM(gather_minibatch, gather_minibatch, policy)                                       \
    LEARN_STREAM(gather_valued, gather_valued, policy)                                             \
    LEARN_STREAM(mark_valued, mark_valued, policy)                                                 \
    LEARN_STREAM(keep_values, keep_values, policy)                                                 \
    LEARN_STREAM(slopes, slopes_streamed, policy)                                                  \
    LEARN_STREAM(total, total_streamed, policy)
#define LEARN_STREAM_REVIEW(policy)                                                                \
    LEARN_STREAM(gather_samples, gather_samples, policy)                                           \
    LEARN_STREAM(review, review_streamed, policy)
// way: forward, backward or weights; so many columns a block, so many blocks at once on a multiprocessor.
#define LEARN_PRODUCT(way, policy, columns, resident)                                              \
    LEARN_BODY(way##_##columns##_##policy, Products, way##_product<E, policy, columns>)            \
    NACELLE_KERNEL_OF(learn_##way##_##columns##_##policy, learn::Products, 288, resident,          \
                      learn::way##_##columns##_##policy)
// way: forward, backward or weights, of one convolution.
#define LEARN_CONV(way, policy, layer, resident)                                                   \
    LEARN_BODY(conv_##way##_##layer##_##policy, ConvPass, conv_##way<E, policy, layer>)            \
    NACELLE_KERNEL_OF(learn_conv_##way##_##layer##_##policy, learn::ConvPass, 256, resident,       \
                      learn::conv_##way##_##layer##_##policy)
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
    LEARN_NUMBERED(adam, policy)
#define LEARN_TOTAL(policy)                                                                        \
    LEARN_NUMBERED(total, policy)                                                                  \
    LEARN_DECIDE(policy)
