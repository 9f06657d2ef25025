#pragma once
// Included by rollout.h: the passes of a CPU over a block of environments.

namespace nacelle::detail {

inline constexpr int lanes_per_pass = 256;    // their state stays in the first-level cache

template <class E, class Actor, class Record>
NACELLE_FLATTEN void step_pass(const View<E>& shared, uint64_t tick, int t, size_t begin, int count,
                               uint8_t* ended, const Actor actor, Record record) {
    const View<E> view = shared;    // a copy of our own: no store can change its pointers
    const Columns<E> to(view);
    const float* const seen = obs_row<E>(view, 0);
    int bad = 0;
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < count; ++i) {
        const size_t env = begin + size_t(i);
        Lane<E> lane;
        A<E> action;
        load_lane<E>(view, env, lane);
        const Now now{env, env, t, tick, seen + env * numbers_in<O<E>>, mask_row<E>(view, env)};
        actor.act(view, now, action);
        const Outcome outcome = step_lane<E>(view, tick, env, lane, action);
        record(now, action, outcome);
        store_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action);
        store_lane<E>(view, env, lane);
        to.reward[env] = outcome.reward;
        to.terminated[env] = outcome.terminated.byte;
        to.truncated[env] = outcome.truncated.byte;
        ended[i] = outcome.terminated.byte | outcome.truncated.byte;
        bad |= !finite(outcome.reward);
    }
    if (!bad) return;
    for (int i = 0; i < count; ++i)
        if (!finite(to.reward[begin + size_t(i)]))
            return note_bad(view.head, Bad::reward, tick, begin + size_t(i));
}

template <class E> NACELLE_COLD void end_one(const View<E>& view, uint64_t tick, size_t env) {
    Lane<E> lane;
    load_ended<E>(view, env, lane);
    observe_row<E, Role::final_obs>(view, tick, env, lane, obs_row<E, Role::final_obs>(view, env));
    Ledger ledger;
    close_episode<E>(view, tick, env, lane, ledger);
    add_totals<E>(view, env, ledger);
    open_episode<E>(view, tick, env, lane, false);
    store_state<E>(view, env, lane);    // the counters of the ended episode stay to be seen
}

template <class E>
NACELLE_FLATTEN void look_pass(const View<E>& shared, uint64_t tick, size_t begin, int count) {
    const View<E> view = shared;
    float* const rows = obs_row<E>(view, 0);
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < count; ++i) {
        const size_t env = begin + size_t(i);
        Lane<E> lane;
        load_lane<E>(view, env, lane);
        observe_row<E, Role::obs>(view, tick, env, lane, rows + env * numbers_in<O<E>>);
        look_lane<E>(view, env, lane);
    }
    const size_t first = begin * numbers_in<O<E>>, last = first + size_t(count) * numbers_in<O<E>>;
    int bad = 0;
    for (size_t i = first; i < last; ++i) bad |= !finite(rows[i]);
    if (!bad) return;
    for (size_t i = first; i < last; ++i)
        if (!finite(rows[i])) return note_bad(view.head, Bad::obs, tick, i / numbers_in<O<E>>);
}

template <class E, class Policy, class Record>
void rollout_alone(const View<E>& view, Items items, uint32_t ahead, int steps, Policy& policy,
                   Record record) {
    const auto [tick, stopped] = time_of(view.head, ahead);
    if (stopped) return;
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    uint8_t ended[lanes_per_pass];
    for (uint64_t begin = items.begin; begin < end; begin += lanes_per_pass) {
        const int count = int(min(end - begin, uint64_t(lanes_per_pass)));
        for (int t = 0; t < steps; ++t) {
            const auto actor = policy.block(view, tick + uint64_t(t), t, begin, count);
            step_pass<E>(view, tick + uint64_t(t), t, begin, count, ended, actor, record);
            for (int i = 0; i < count; ++i)
                if (ended[i]) end_one<E>(view, tick + uint64_t(t), begin + uint64_t(i));
            look_pass<E>(view, tick + uint64_t(t), begin, count);
        }
    }
}

}
