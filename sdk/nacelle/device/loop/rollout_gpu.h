#pragma once
#include <nacelle/device/loop/rows.h>
// Included by rollout.h: a GPU's thread keeps its environment for all steps.

namespace nacelle::detail {

// Observations up to this width stay in registers between the environment and the policy.
inline constexpr int widest_in_registers = 32;

#if defined(__CUDACC_RTC__)
template <class T> NACELLE_INLINE void hold_one(T& value) {
    if constexpr (same<T, float>) asm volatile("" : "+f"(value));
    else if constexpr (same<T, double>) asm volatile("" : "+d"(value));
    else if constexpr (is_number<T> && sizeof(T) == 4) asm volatile("" : "+r"(value));
    else if constexpr (is_number<T> && sizeof(T) == 8) asm volatile("" : "+l"(value));
}
#endif

// Keeps the load of a value before the branch that follows, so that it overlaps with the load of the clock.
// Without it a step takes a third longer.
template <class... T> NACELLE_INLINE void hold(T&... value) {
#if defined(__CUDACC_RTC__)
    (hold_one(value), ...);
#else
    ((void)value, ...);
#endif
}

// The threads of a warp write the observation of one environment together, then that of the next, so that
// neighbouring threads write neighbouring bytes of an image.
template <class E, Role role>
NACELLE_INLINE void observe_together(const View<E>& view, uint64_t tick, size_t env,
                                     uint32_t asked) {
    const int thread = int(threadIdx.x % 32),
              doublings = int(doublings_of_env(uint32_t(Shape<E>::lanes), view.head.envs));
    __syncwarp();
    NACELLE_ROLLED while (asked) {
        const int k = __ffs(int(asked)) - 1;
        asked &= asked - 1;
        const size_t other = env - size_t(thread >> doublings) + size_t(k >> doublings);
        LocalEnv<E> local(view, other);
        load_local<E>(view, local, role != Role::final_obs && ended_before<E>(view, other));
        observe_row<E, role>(view, tick, local, obs_row<E, role>(view, other), thread, 32);
    }
    __syncwarp();
}

// Environments with images: all threads of a warp take part, also those behind the last environment.
template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_images(const View<E>& view, size_t env, uint32_t ahead, int steps,
                                   Policy& policy, Record record) {
    auto [tick, stopped] = time_of(view.head, ahead);
    if (stopped) return;
    const bool mine = has_solo<E>(view.head.envs) && env < view.head.envs;
    const uint32_t present = __ballot_sync(~0u, mine);
    const Columns<E> to(view);
    EpisodeSums sums;
    NACELLE_ROLLED for (int t = 0; t < steps; ++t, ++tick) {
        LocalEnv<E> local(view, env);
        bool ended = false;
        if (mine) {
            load_local<E>(view, local);
            A<E> action;
            const float* const seen = obs_row<E>(view, env);
            ThreadRows<E, false> rows{view, tick, t, env, seen, action, true};
            policy.choose(rows);
            const Outcome outcome = step_local<E>(view, tick, local, action);
            if (!finite(outcome.reward)) note_bad(view.head, Bad::reward, tick, env, action);
            record(Now{env, env, t, tick, seen}, action, outcome);
            store_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action);
            store_local<E>(view, local);
            to.reward[env] = outcome.reward;
            to.terminated[env] = outcome.terminated.byte;
            to.truncated[env] = outcome.truncated.byte;
            ended = outcome.terminated || outcome.truncated;
        }
        const uint32_t over = __ballot_sync(~0u, ended);
        if (over) {
            observe_together<E, Role::final_obs>(view, tick, env, over);
            if (ended) {
                keep_last_overview<E>(view, local, record, t);
                close_episode<E>(view, tick, local, sums);
                open_episode<E>(view, tick, local, false);
                store_state<E>(view, local);
            }
        }
        observe_together<E, Role::obs>(view, tick, env, present);
        if (mine) {
            look_local<E>(view, local, record, t);
            const float* const row = obs_row<E>(view, env);
            for (int i = 0; i < numbers_in<O<E>>; ++i)
                if (!finite(row[i])) note_bad_env<E>(view, Bad::obs, tick, env);
        }
    }
    if (mine) store_sums<E>(view, env, sums, present);
}

template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_numbers(const View<E>& view, size_t env, uint32_t ahead, int steps,
                                    Policy& policy, Record record) {
    constexpr bool by_warp = chooses_by_warp<Policy>;
    const uint32_t present = __ballot_sync(~0u, env < view.head.envs);
    const bool mine = !by_warp || env < view.head.envs;
    if (!by_warp && env >= view.head.envs) return;
    constexpr int width = numbers_in<O<E>>;
    constexpr bool narrow = width <= widest_in_registers;
    float* const row = obs_row<E>(view, mine ? env : 0);
    float numbers[narrow && width ? width : 1];
    if constexpr (narrow) {
        NACELLE_UNROLL for (int i = 0; i < width; ++i) numbers[i] = row[i];
    }
    float* const seen = narrow ? numbers : row;

    LocalEnv<E> local(view, mine ? env : 0);
    A<E> action;
    Outcome outcome;
    EpisodeSums sums;
    load_local<E>(view, local);
    // All blocks of a wave load at once and then compute at once. Prefetching for the next wave fills the gap.
    if constexpr (!gpu_draft)
        if (steps == 1 && view.head.prefetch && env + view.head.prefetch < view.head.envs)
            prefetch_env<E>(view, env + view.head.prefetch);
    auto [tick, stopped] = time_of(view.head, ahead);
    hold(local.length, local.running);
    for_each_element(local.state, [](auto, int, auto& value) { hold(value); });
    if (stopped) return;
    NACELLE_ROLLED for (int t = 0; t < steps; ++t, ++tick) {
        ThreadRows<E, by_warp> rows{view, tick, t, env, seen, action, mine};
        policy.choose(rows);
        if (!mine) continue;
        outcome = step_local<E>(view, tick, local, action);
        if (!finite(outcome.reward)) note_bad(view.head, Bad::reward, tick, env, action);
        record(Now{env, env, t, tick, seen}, action, outcome);
        if (outcome.terminated || outcome.truncated) {
            observe_row<E, Role::final_obs>(view, tick, local,
                                            obs_row<E, Role::final_obs>(view, env));
            keep_last_overview<E>(view, local, record, t);
            close_episode<E>(view, tick, local, sums);
            open_episode<E>(view, tick, local, false);
        }
        observe_local<E, narrow>(view, tick, local, seen);
        look_local<E>(view, local, record, t);
        float zero = 0;    // NaN or infinity times zero is not zero
        NACELLE_UNROLL for (int i = 0; i < width; ++i) zero = fused(seen[i], 0.0f, zero);
        if (!(zero == 0.0f)) note_bad(view.head, Bad::obs, tick, env, action);
    }
    if (mine) {
        const Columns<E> to(view);
        store_streaming(to.reward[env], outcome.reward);
        store_streaming(to.terminated[env], outcome.terminated.byte);
        store_streaming(to.truncated[env], outcome.truncated.byte);
        visit_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action,
                     [](auto& stored, auto& value) { store_streaming(stored, value); });
        store_state<E>(view, local);
        const bool over = outcome.terminated || outcome.truncated;
        store_counters<E>(view, env, over ? sums.last_length : local.length,
                          over ? sums.last_return : local.running);
        store_sums<E>(view, env, sums, present);
        if constexpr (narrow) store_row_of_floats<width>(numbers, row);
    }
    if constexpr (by_warp) __syncwarp();
}

template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_alone(const View<E>& view, Items items, uint32_t ahead, int steps,
                                  Policy& policy, Record record) {
    if constexpr (has_image<E>)
        rollout_images<E>(view, size_t(items.begin), ahead, steps, policy, record);
    else rollout_numbers<E>(view, size_t(items.begin), ahead, steps, policy, record);
}

}
