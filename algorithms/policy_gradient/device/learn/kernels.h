#pragma once
#include <learn/formulas/observations.h>
#include <learn/formulas/optimiser.h>
#include <learn/steps.h>
#if !defined(__CUDACC_RTC__)
#include <time.h>
#endif
#if NACELLE_GPU
#include <learn/gpu/conv/conv_weights.h>
#include <learn/gpu/dense/cluster_products.h>
#include <learn/gpu/dense/first_gradient.h>
#include <learn/gpu/dense/fused_rows.h>
#include <learn/gpu/dense/last_layer.h>
#include <learn/gpu/dense/row_forward.h>
#include <learn/gpu/dense/row_pass.h>
#include <learn/gpu/recurrent/gru_ahead.h>
#include <learn/gpu/recurrent/gru_back.h>
#include <learn/gpu/recurrent/mingru.h>
#include <learn/gpu/recurrent/sequences.h>
#include <learn/gpu/rollout/rollout_recurrent.h>
#include <learn/gpu/rollout/rollout_resident.h>
#include <learn/gpu/rollout/rollout_resident_teams.h>
#include <learn/gpu/rollout/rollout_teams.h>
#include <learn/gpu/rollout/rollout_warps.h>
#include <learn/gpu/update/update.h>
#include <learn/sums/sums.h>
#else
#include <learn/cpu/act.h>
#include <learn/cpu/sequence_update.h>
#include <learn/cpu/streamed/update.h>
#endif
// The functions of a policy gradient's kernels. The host writes the Specs and NACELLE_PROGRAM(), then the kernels of
// its kernel_table.h that there are.

namespace learn {

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
NACELLE_INLINE void settle_minibatch(const PolicyState& state, const Sums<3>& sums) {
    const Moments moments(sums.at[0], sums.at[1], sums.at[2]);
    state.found[advantage_mean] = moments.mean;
    state.found[advantage_scale] = moments.scale;
}
template <class E, int policy>
NACELLE_INLINE void scale_minibatch(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    const Sums<3> sums = statistics_of_all(
        a, policy, sum_of_strips<3>(state.slots, Minibatch<E, policy>(view, a).count));
    if (items.begin != 0) return;
    if constexpr (hands_over) hand_over(sums, a, 6 * uint64_t(policy));
    else settle_minibatch(state, sums);
}
template <class E, int policy>
NACELLE_INLINE void scale_minibatch_alike(const View<E>&, const Arguments& a, Items items) {
    if (items.begin == 0)
        settle_minibatch(a.policy[policy], handed_over<3>(a, 6 * uint64_t(policy)));
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
    if (items.begin != 0) return;
    a.iteration[0] += 1;
    if constexpr (by_peers)
        for (uint32_t place = observations_of; place < peer_places; ++place)
            Exchange::next_turn(*a.of_ranks.peers, place);
}

}
