#pragma once
// Included by rollout.h: a GPU's thread is a lane for all steps.

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

// Keeps a loaded value in front of the branch that follows, so that the loads are on their way while
// the clock is: a third of a step's time else.
template <class... T> NACELLE_INLINE void hold(T&... value) {
#if defined(__CUDACC_RTC__)
    (hold_one(value), ...);
#else
    ((void)value, ...);
#endif
}

// The threads of a warp write the observations of its environments one after the other, each together,
// so that the bytes of an image leave side by side.
template <class E, Role role>
NACELLE_INLINE void observe_together(const View<E>& view, uint64_t tick, size_t env,
                                     uint32_t asked) {
    const int thread = int(threadIdx.x % 32);
    __syncwarp();
    NACELLE_ROLLED while (asked) {
        const int k = __ffs(int(asked)) - 1;
        asked &= asked - 1;
        const size_t other = env - size_t(thread) + size_t(k);
        Lane<E> lane;
        if constexpr (role == Role::final_obs) load_ended<E>(view, other, lane);
        else load_lane<E>(view, other, lane);
        bind_row<E>(view.array, slot_of<E>(Role::state), other, view.head.envs, lane.state);
        observe_row<E, role>(view, tick, other, lane, obs_row<E, role>(view, other), thread, 32);
    }
    __syncwarp();
}

// Environments with images: all threads of a warp go along, also those behind the last environment.
template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_images(const View<E>& view, size_t env, uint32_t ahead, int steps,
                                   Policy& policy, Record record) {
    auto [tick, stopped] = time_of(view.head, ahead);
    if (stopped) return;
    const bool mine = env < view.head.envs;
    const uint32_t present = __ballot_sync(~0u, mine);
    const Columns<E> to(view);
    Ledger ledger;
    NACELLE_ROLLED for (int t = 0; t < steps; ++t, ++tick) {
        Lane<E> lane;
        bool ended = false;
        if (mine) {
            load_lane<E>(view, env, lane);
            A<E> action;
            const Now now{env, env, t, tick, obs_row<E>(view, env), mask_row<E>(view, env)};
            policy.act(view, now, action);
            const Outcome outcome = step_lane<E>(view, tick, env, lane, action);
            if (!finite(outcome.reward)) note_bad(view.head, Bad::reward, tick, env);
            record(now, action, outcome);
            store_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action);
            store_lane<E>(view, env, lane);
            to.reward[env] = outcome.reward;
            to.terminated[env] = outcome.terminated.byte;
            to.truncated[env] = outcome.truncated.byte;
            ended = outcome.terminated || outcome.truncated;
        }
        const uint32_t over = __ballot_sync(~0u, ended);
        if (over) {
            observe_together<E, Role::final_obs>(view, tick, env, over);
            if (ended) {
                close_episode<E>(view, tick, env, lane, ledger);
                open_episode<E>(view, tick, env, lane, false);
                store_state<E>(view, env, lane);
            }
        }
        observe_together<E, Role::obs>(view, tick, env, present);
        if (mine) {
            look_lane<E>(view, env, lane);
            const float* const row = obs_row<E>(view, env);
            for (int i = 0; i < numbers_in<O<E>>; ++i)
                if (!finite(row[i])) note_bad(view.head, Bad::obs, tick, env);
        }
    }
    if (mine) store_ledger<E>(view, env, ledger, present);
}

// A policy that says so acts for a warp at once: all its threads come along to act(), also those that have
// no environment.
template <class Policy> inline constexpr bool acts_together = requires { Policy::acts_together; };

template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_numbers(const View<E>& view, size_t env, uint32_t ahead, int steps,
                                    Policy& policy, Record record) {
    const uint32_t present = __ballot_sync(~0u, env < view.head.envs);
    const bool mine = !acts_together<Policy> || env < view.head.envs;
    if (!acts_together<Policy> && env >= view.head.envs) return;
    constexpr int width = numbers_in<O<E>>;
    constexpr bool narrow = width <= widest_in_registers;
    float* const row = obs_row<E>(view, mine ? env : 0);
    float local[narrow && width ? width : 1];
    if constexpr (narrow) {
        NACELLE_UNROLL for (int i = 0; i < width; ++i) local[i] = row[i];
    }
    float* const seen = narrow ? local : row;

    Lane<E> lane;
    A<E> action;
    Outcome outcome;
    Ledger ledger;
    load_lane<E>(view, mine ? env : 0, lane);
    // The blocks of a wave load at once and then compute at once; the next wave's loads fill the gap.
    if (steps == 1 && view.head.prefetch && env + view.head.prefetch < view.head.envs)
        prefetch_lane<E>(view, env + view.head.prefetch);
    auto [tick, stopped] = time_of(view.head, ahead);
    hold(lane.length, lane.running);
    for_each_element(lane.state, [](auto, int, auto& value) { hold(value); });
    if (stopped) return;
    NACELLE_ROLLED for (int t = 0; t < steps; ++t, ++tick) {
        const Now now{env, env, t, tick, seen, mask_row<E>(view, mine ? env : 0)};
        policy.act(view, now, action);
        if (!mine) continue;
        outcome = step_lane<E>(view, tick, env, lane, action);
        if (!finite(outcome.reward)) note_bad(view.head, Bad::reward, tick, env);
        record(now, action, outcome);
        if (outcome.terminated || outcome.truncated) {
            observe_row<E, Role::final_obs>(view, tick, env, lane,
                                            obs_row<E, Role::final_obs>(view, env));
            close_episode<E>(view, tick, env, lane, ledger);
            open_episode<E>(view, tick, env, lane, false);
        }
        observe_local<E, narrow>(view, tick, env, lane, seen);
        look_lane<E>(view, env, lane);
        float zero = 0;    // NaN or infinity times zero is not zero
        NACELLE_UNROLL for (int i = 0; i < width; ++i) zero = fused(seen[i], 0.0f, zero);
        if (!(zero == 0.0f)) note_bad(view.head, Bad::obs, tick, env);
    }
    if (mine) {
        const Columns<E> to(view);
        pass_on(to.reward[env], outcome.reward);
        pass_on(to.terminated[env], outcome.terminated.byte);
        pass_on(to.truncated[env], outcome.truncated.byte);
        visit_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action,
                     [](auto& stored, auto& value) { pass_on(stored, value); });
        store_state<E>(view, env, lane);
        const bool over = outcome.terminated || outcome.truncated;
        store_counters<E>(view, env, over ? ledger.last_length : lane.length,
                          over ? ledger.last_return : lane.running);
        store_ledger<E>(view, env, ledger, present);
        if constexpr (narrow) store_row_of_floats<width>(local, row);
    }
    if constexpr (acts_together<Policy>) __syncwarp();
}

template <class E, class Policy, class Record>
NACELLE_INLINE void rollout_alone(const View<E>& view, Items items, uint32_t ahead, int steps,
                                  Policy& policy, Record record) {
    if constexpr (has_image<E>)
        rollout_images<E>(view, size_t(items.begin), ahead, steps, policy, record);
    else rollout_numbers<E>(view, size_t(items.begin), ahead, steps, policy, record);
}

}
