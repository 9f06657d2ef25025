#pragma once
#include <nacelle/device/loop/places.h>
#include <nacelle/device/loop/rows.h>
// Included by rollout.h: the passes of a CPU over a block of environments.

namespace nacelle::detail {

// Choices and steps of a block.
template <class E, class Policy, class Record>
NACELLE_FLATTEN void step_pass(const View<E>& shared, uint64_t tick, int t, size_t begin, int count,
                               uint8_t* ended, Policy& policy, Record record) {
    const View<E> view = shared;    // a copy of our own: no store can change its pointers
    const Columns<E> to(view);
    const float* const seen = obs_row<E>(view, 0);
    int bad = 0;
    const auto step = [&](int i, const A<E>& action) NACELLE_INLINE_LAMBDA {
        const size_t env = begin + size_t(i);
        LocalEnv<E> local(view, env);
        load_local<E>(view, local);
        const Outcome outcome = step_local<E>(view, tick, local, action);
        record(Now{env, env, t, tick, seen + env * numbers_in<O<E>>}, action, outcome);
        store_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action);
        store_local<E>(view, local);
        to.reward[env] = outcome.reward;
        to.terminated[env] = outcome.terminated.byte;
        to.truncated[env] = outcome.truncated.byte;
        ended[i] = outcome.terminated.byte | outcome.truncated.byte;
        bad |= !finite(outcome.reward);
    };
    BlockRows<E, decltype(step)> rows{view, tick, t, begin, count, step};
    policy.choose(rows);
    if (!bad) return;
    for (int i = 0; i < count; ++i)
        if (!finite(to.reward[begin + size_t(i)]))
            return note_bad_env<E>(view, Bad::reward, tick, begin + size_t(i));
}

// How many ends of episodes are prefetched at once: a processor has room for few misses under way, and more would wait.
inline constexpr int awaited = 4;

// Asks for the memory of a last observation, whose row lies far from the one before it.
template <class E> NACELLE_INLINE void await_last(const View<E>& view, size_t env) {
    constexpr int width = numbers_in<O<E>>;
    if constexpr (width > 0) {
        const float* const row = obs_row<E, Role::final_obs>(view, env);
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + width - 1, 1);
    }
    (void)view, (void)env;
}

template <class E, class Record>
NACELLE_COLD void end_one(const View<E>& view, uint64_t tick, int t, size_t env,
                          const Record& record) {
    LocalEnv<E> local(view, env);
    load_local<E>(view, local, false);
    observe_row<E, Role::final_obs>(view, tick, local, obs_row<E, Role::final_obs>(view, env));
    keep_last_overview<E>(view, local, record, t);
    EpisodeSums sums;
    close_episode<E>(view, tick, local, sums);
    if constexpr (requires { record.ended(env, sums); }) record.ended(env, sums);
    add_totals<E>(view, env, sums);
    open_episode<E>(view, tick, local, false);
    store_state<E>(view, local);    // the counters of the ended episode stay to be seen
}

template <class E, class Record>
NACELLE_FLATTEN void look_pass(const View<E>& shared, uint64_t tick, int t, size_t begin, int count,
                               Record record) {
    const View<E> view = shared;
    float* const rows = obs_row<E>(view, 0);
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < count; ++i) {
        LocalEnv<E> local(view, begin + size_t(i));
        load_local<E>(view, local);
        observe_row<E, Role::obs>(view, tick, local, rows + local.env * numbers_in<O<E>>);
        look_local<E>(view, local, record, t);
    }
    const size_t first = begin * numbers_in<O<E>>, last = first + size_t(count) * numbers_in<O<E>>;
    int bad = 0;
    for (size_t i = first; i < last; ++i) bad |= !finite(rows[i]);
    if (!bad) return;
    for (size_t i = first; i < last; ++i)
        if (!finite(rows[i])) return note_bad_env<E>(view, Bad::obs, tick, i / numbers_in<O<E>>);
}

template <class E, class Policy, class Record>
void rollout_alone(const View<E>& view, Items items, uint32_t ahead, int steps, Policy& policy,
                   Record record) {
    const auto [start, stopped] = time_of(view.head, ahead);
    if (stopped) return;
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    const uint64_t blocks =
                       end > items.begin ? (end - items.begin + block_envs - 1) / block_envs : 0,
                   passes = blocks * uint64_t(steps);
    struct Pass {
        uint64_t begin, tick;
        int count, t, found;
        uint8_t ended[block_envs];
        int places[block_envs];
    } passed[2];
    // Of one step a block's ends come behind the next block's step: by then the memory that was asked for has come.
    const uint64_t later = steps == 1;
    for (uint64_t n = 0; n < passes + later; ++n) {
        if (n < passes) {
            Pass& now = passed[n % 2];
            now.begin = items.begin + n / uint64_t(steps) * block_envs;
            now.t = int(n % uint64_t(steps));
            now.tick = start + uint64_t(now.t);
            now.count = int(min(end - now.begin, uint64_t(block_envs)));
            step_pass<E>(view, now.tick, now.t, now.begin, now.count, now.ended, policy, record);
            now.found = places_of(now.ended, now.count, now.places);
            for (int k = 0; k < now.found; ++k) {
                const size_t env = size_t(now.begin) + size_t(now.places[k]);
                await_last<E>(view, env);
            }
            if constexpr (requires { record.stepped(view, size_t(0), 0, now.ended, 0); })
                record.stepped(view, size_t(now.begin), now.count, now.ended, now.found);
        }
        if (n < later) continue;
        const Pass& before = passed[(n - later) % 2];
        for (int k = -awaited; k < before.found; ++k) {
            if constexpr (requires { record.await(size_t(0)); })
                if (k + awaited < before.found)
                    record.await(size_t(before.begin) + size_t(before.places[k + awaited]));
            if (k >= 0)
                end_one<E>(view, before.tick, before.t, before.begin + uint64_t(before.places[k]),
                           record);
        }
        look_pass<E>(view, before.tick, before.t, before.begin, before.count, record);
    }
}

}
