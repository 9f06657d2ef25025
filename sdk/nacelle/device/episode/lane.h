#pragma once
#include <nacelle/kernel.h>
// A lane is one environment on its way: its state, its counters and its parameters, between memory and
// registers.

namespace nacelle::detail {

// Where no parameter varies, all lanes read the view's; else each has its own.
template <class E> consteval bool any_varied() {
    for (const Field& f : description<E>.fields)
        if (f.role == Role::param && f.varied) return true;
    return false;
}
template <class E, bool Varies> struct LaneParams {
    NACELLE_INLINE const P<E>& params(const View<E>& view) const { return view.params; }
};
template <class E> struct LaneParams<E, true> {
    P<E> own;
    NACELLE_INLINE const P<E>& params(const View<E>&) const { return own; }
};

template <class E> struct Lane : LaneParams<E, any_varied<E>()> {
    S<E> state;
    int length;       // steps of this episode
    float running;    // the return so far
};

// The slot of a varied parameter, and the number of drawn values before its first one.
template <class E> consteval int varied_slot(int leaf) {
    int slot = slot_of<E>(Role::param);
    for (int i = 0; i < leaf; ++i) slot += description<E>.fields[i].varied;
    return slot;
}
template <class E> consteval int varied_before(int leaf) {
    int n = 0;
    for (int i = 0; i < leaf; ++i)
        n += description<E>.fields[i].varied ? int(description<E>.fields[i].count) : 0;
    return n;
}
// fn(slot, k, element, number of the drawn value) for the elements of varied parameters.
template <class E, class Fn> NACELLE_INLINE void for_each_varied(P<E>& params, Fn&& fn) {
    for_each_element(
        params, [&](auto leaf, int k, auto& value) { visit_varied<E, leaf.value>(k, value, fn); });
}
template <class E, int leaf, class T, class Fn>
NACELLE_INLINE void visit_varied(int k, T& value, Fn& fn) {
    if constexpr (form_of<T> == Form::number && description<E>.fields[leaf].varied)
        fn(varied_slot<E>(leaf), k, value, varied_before<E>(leaf) + k);
}

template <class E, class L>
NACELLE_INLINE void load_params(const View<E>& view, size_t env, L& lane) {
    if constexpr (any_varied<E>()) {
        lane.own = view.params;
        for_each_varied<E>(lane.own, [&](int slot, int k, auto& value, int) {
            value = static_cast<bare<decltype(value)>*>(
                view.array[slot])[size_t(k) * view.head.envs + env];
        });
    }
}
// The author's clock. It begins above 0 only after a snapshot; without a pool of them the array that
// says so need not be read.
template <class E>
NACELLE_INLINE int clock_of(const View<E>& view, size_t env, const Lane<E>& lane) {
    return lane.length + (view.head.pool_size
                              ? NACELLE_COLUMN(view, int, Role::episode, "episode.start")[env]
                              : 0);
}
// After a step that ended an episode the counters begin anew, though the arrays still show the old ones.
template <class E>
NACELLE_INLINE void load_counters(const View<E>& view, size_t env, Lane<E>& lane, int over) {
    const int length = NACELLE_COLUMN(view, int, Role::episode, "episode.length")[env];
    const float running = NACELLE_COLUMN(view, float, Role::episode, "episode.return")[env];
    lane.length = over ? 0 : length;
    lane.running = over ? 0.0f : running;
}
template <class E> NACELLE_INLINE void load_lane(const View<E>& view, size_t env, Lane<E>& lane) {
    load_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
    load_params<E>(view, env, lane);
    load_counters<E>(view, env, lane,
                     column<E, uint8_t, Role::terminated>(view)[env] |
                         column<E, uint8_t, Role::truncated>(view)[env]);
}
// As load_lane, for an environment whose episode has just ended: with the counters of that episode.
template <class E> NACELLE_INLINE void load_ended(const View<E>& view, size_t env, Lane<E>& lane) {
    load_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
    load_params<E>(view, env, lane);
    load_counters<E>(view, env, lane, 0);
}
template <class E> NACELLE_INLINE void prefetch_lane(const View<E>& view, size_t env) {
    S<E> shape;
    prefetch_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, shape);
    prefetch(NACELLE_COLUMN(view, int, Role::episode, "episode.length") + env);
    prefetch(NACELLE_COLUMN(view, float, Role::episode, "episode.return") + env);
}
// Length and return are stored by every step, side by side: what an ended episode had stays there until
// the next step. Written apart only where an episode ends, they would cost a third of a step.
template <class E>
NACELLE_INLINE void store_counters(const View<E>& view, size_t env, int length, float running) {
    NACELLE_COLUMN(view, int, Role::episode, "episode.length")[env] = length;
    NACELLE_COLUMN(view, float, Role::episode, "episode.return")[env] = running;
}
template <class E> NACELLE_INLINE void store_state(const View<E>& view, size_t env, Lane<E>& lane) {
    store_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
}
template <class E> NACELLE_INLINE void store_lane(const View<E>& view, size_t env, Lane<E>& lane) {
    store_state<E>(view, env, lane);
    store_counters<E>(view, env, lane.length, lane.running);
}

NACELLE_INLINE float progress_at(const ViewHead& head, uint64_t tick) {
    return min(1.0f, float(tick) * head.progress_per_tick);
}
template <class E>
NACELLE_INLINE Episode episode_of(const View<E>& view, uint64_t tick, size_t env,
                                  const Lane<E>& lane) {
    if constexpr (uses_episode<E>)
        return {view.head.first_env + uint32_t(env),
                NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[env],
                NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")[env],
                clock_of<E>(view, env, lane), progress_at(view.head, tick)};
    else
        return {view.head.first_env + uint32_t(env), 0, 0, clock_of<E>(view, env, lane),
                progress_at(view.head, tick)};
}
NACELLE_INLINE bool finite(float x) { return magnitude(x) < infinity; }

}
