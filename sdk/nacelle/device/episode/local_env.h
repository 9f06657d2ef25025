#pragma once
#include <nacelle/kernel.h>
// One environment while it steps: its state, its counters and its parameters, between memory and
// registers.

namespace nacelle::detail {

// Where no parameter varies, all environments read the view's; else each has its own.
template <class E> consteval bool any_varied() {
    for (const Field& f : description<E>.fields)
        if (f.role == Role::param && f.varied) return true;
    return false;
}
template <class E, bool Varies> struct LocalParams {
    NACELLE_INLINE const P<E>& params(const View<E>& view) const { return view.params; }
};
template <class E> struct LocalParams<E, true> {
    P<E> own;
    NACELLE_INLINE const P<E>& params(const View<E>&) const { return own; }
};

// What TeamThreads is for a team.
struct OneThread {
    template <class Fn> static NACELLE_INLINE void spread(int n, Fn&& fn) {
        for (int i = 0; i < n; ++i) fn(i);
    }
};
// Of an environment with one agent, which has one thread. Functions for both kinds of environments ask their
// LocalEnv or LocalTeam for the number of this thread.
template <class E> struct LocalEnv : LocalParams<E, any_varied<E>()> {
    S<E> state;
    size_t env;
    int length;       // steps of this episode
    float running;    // the return so far

    NACELLE_INLINE LocalEnv(const View<E>&, size_t which) : env(which) {}
    static constexpr bool is_first() { return true; }
    static NACELLE_INLINE void sync() {}
    static constexpr OneThread threads{};
};

// What an environment's arrays say of the episode that it is in.
template <class E> NACELLE_INLINE int& length_at(const View<E>& view, size_t env) {
    return NACELLE_COLUMN(view, int, Role::episode, "episode.length")[env];
}
template <class E> NACELLE_INLINE float& return_at(const View<E>& view, size_t env) {
    return NACELLE_COLUMN(view, float, Role::episode, "episode.return")[env];
}
template <class E> NACELLE_INLINE uint32_t& number_at(const View<E>& view, size_t env) {
    return NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[env];
}
template <class E> NACELLE_INLINE uint32_t& level_at(const View<E>& view, size_t env) {
    return NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")[env];
}
// The author's clock when the episode began: above 0 only after a snapshot. Without a pool of them the
// array that says so need not be read.
template <class E> NACELLE_INLINE int& start_at(const View<E>& view, size_t env) {
    return NACELLE_COLUMN(view, int, Role::episode, "episode.start")[env];
}
template <class E> NACELLE_INLINE int start_of(const View<E>& view, size_t env) {
    return view.head.pool_size ? start_at<E>(view, env) : 0;
}
template <class E> NACELLE_INLINE bool ended_before(const View<E>& view, size_t env) {
    return column<E, uint8_t, Role::terminated>(view)[env] |
           column<E, uint8_t, Role::truncated>(view)[env];
}

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

template <class E, class L> NACELLE_INLINE void load_params(const View<E>& view, L& local) {
    if constexpr (any_varied<E>()) {
        local.own = view.params;
        for_each_varied<E>(local.own, [&](int slot, int k, auto& value, int) {
            value = static_cast<bare<decltype(value)>*>(
                view.array[slot])[size_t(k) * view.head.envs + local.env];
        });
    }
}
template <class E>
NACELLE_INLINE uint32_t number_before(const View<E>& view, const LocalEnv<E>& local) {
    return number_at<E>(view, local.env);
}
template <class E> NACELLE_INLINE int clock_of(const View<E>& view, const LocalEnv<E>& local) {
    return local.length + start_of<E>(view, local.env);
}
// After a step that ended an episode the counters begin anew, though the arrays still show the old ones.
template <class E>
NACELLE_INLINE void load_local(const View<E>& view, LocalEnv<E>& local, bool over) {
    load_row<E>(view.array, slot_of<E>(Role::state), local.env, view.head.envs, local.state);
    load_params<E>(view, local);
    const int length = length_at<E>(view, local.env);
    const float running = return_at<E>(view, local.env);
    local.length = over ? 0 : length;
    local.running = over ? 0.0f : running;
}
template <class E> NACELLE_INLINE void load_local(const View<E>& view, LocalEnv<E>& local) {
    load_local<E>(view, local, ended_before<E>(view, local.env));
}
template <class E>
NACELLE_INLINE void load_local(const View<E>& view, uint64_t, LocalEnv<E>& local) {
    load_local<E>(view, local);
}
template <class E> NACELLE_INLINE void prefetch_env(const View<E>& view, size_t env) {
    S<E> shape;
    prefetch_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, shape);
    prefetch(&length_at<E>(view, env));
    prefetch(&return_at<E>(view, env));
}
// Every step stores length and return, neighbouring environments side by side. The values of an ended episode
// stay there until the next step. Arrays of their own, written only at ends, would cost a third of a step.
template <class E>
NACELLE_INLINE void store_counters(const View<E>& view, size_t env, int length, float running) {
    length_at<E>(view, env) = length;
    return_at<E>(view, env) = running;
}
template <class E> NACELLE_INLINE void store_state(const View<E>& view, LocalEnv<E>& local) {
    store_row<E>(view.array, slot_of<E>(Role::state), local.env, view.head.envs, local.state);
}
template <class E> NACELLE_INLINE void store_local(const View<E>& view, LocalEnv<E>& local) {
    store_state<E>(view, local);
    store_counters<E>(view, local.env, local.length, local.running);
}

NACELLE_INLINE float progress_at(const ViewHead& head, uint64_t tick) {
    return min(1.0f, head.progress_from + float(tick) * head.progress_per_tick);
}
template <class E>
NACELLE_INLINE Episode episode_of(const View<E>& view, uint64_t tick, const LocalEnv<E>& local) {
    uint32_t number = 0, level = 0;
    if constexpr (uses_episode<E>) {
        number = number_at<E>(view, local.env);
        level = level_at<E>(view, local.env);
    }
    return {view.head.first_env + uint32_t(local.env), number, level, clock_of<E>(view, local),
            progress_at(view.head, tick)};
}
NACELLE_INLINE bool finite(float x) { return magnitude(x) < infinity; }

}
