#pragma once
#include <nacelle/device/team/team_load.h>
// Snapshots: all that an environment needs to go on, copied to a pool and back.

namespace nacelle::detail {

// Of a number's size, whatever number it is: an assignment alone would tell a host's compiler that no float
// has changed.
template <class T> NACELLE_INLINE void copy_bits(T* to, const T* from) {
#if defined(__CUDACC_RTC__)
    *to = *from;
#else
    __builtin_memcpy(to, from, sizeof(T));
#endif
}
// Element i of a field's row moves between two arrays of the same layout with other numbers of rows.
template <class T>
NACELLE_INLINE void copy_elements(const Field& f, const void* source, size_t from, size_t rows,
                                  void* target, size_t to, size_t target_rows) {
    const bool columns = f.layout == Layout::columns;
    NACELLE_ROLLED for (uint32_t i = 0; i < f.count; ++i) {
        const size_t there = columns ? i * target_rows + to : to * f.count + i,
                     here = columns ? i * rows + from : from * f.count + i;
        copy_bits(static_cast<T*>(target) + there, static_cast<const T*>(source) + here);
    }
}
template <class E, class Fn> NACELLE_INLINE void for_each_kept(Fn&& fn) {
    [&]<int... I>(Ints<I...>) { (keep_one<E, I>(fn), ...); }
    (count_to<field_total<E>>{});
}
template <class E, int I, class Fn> NACELLE_INLINE void keep_one(Fn& fn) {
    if constexpr (description<E>.fields[I].slot >= 0 &&
                  (description<E>.fields[I].kept & in_snapshot) != 0) {
        constexpr Dtype type = description<E>.fields[I].dtype;
        if constexpr (type == Dtype::f64 || type == Dtype::i64 || type == Dtype::u64)
            fn(description<E>.fields[I], uint64_t{});
        else if constexpr (type == Dtype::f32 || type == Dtype::i32 || type == Dtype::u32)
            fn(description<E>.fields[I], uint32_t{});
        else if constexpr (type == Dtype::i16 || type == Dtype::u16)
            fn(description<E>.fields[I], uint16_t{});
        else fn(description<E>.fields[I], uint8_t{});
    }
}
// How many rows of a field one environment has: one, or one for each agent.
template <class E> NACELLE_INLINE int rows_in_snapshot(const Field& f) {
    return f.per == Per::row ? int(description<E>.header.group[f.group].count) : 1;
}
// What a snapshot holds moves between an environment and a place in a pool of `size` snapshots.
template <class E, class Threads>
NACELLE_CALLED_IN_DRAFTS void copy_snapshot(const View<E>& view, Threads threads, size_t env,
                                            size_t place, size_t size, bool save) {
    for_each_kept<E>([&](const Field& f, auto unit) {
        using T = decltype(unit);
        const int n = rows_in_snapshot<E>(f);
        const size_t envs = size_t(view.head.envs) * size_t(n), places = size * size_t(n);
        threads.spread(n, [&](int i) {
            const size_t own = env * size_t(n) + size_t(i), there = place * size_t(n) + size_t(i);
            void *const array = view.array[f.slot], *const pool = view.pool[f.slot];
            if (save) copy_elements<T>(f, array, own, envs, pool, there, places);
            else copy_elements<T>(f, pool, there, places, array, own, envs);
        });
    });
}
// The clock goes with it: an episode that continues from the snapshot starts at that clock.
template <class E, class L>
NACELLE_INLINE void save_snapshot(const View<E>& view, const L& local, size_t place, size_t size) {
    copy_snapshot<E>(view, local.threads, local.env, place, size, true);
    const int clock = start_of<E>(view, local.env) +
                      (ended_before<E>(view, local.env) ? 0 : length_at<E>(view, local.env));
    local.sync();    // who copied the start that the episode had is done with it
    if (local.is_first())
        static_cast<int*>(view.pool[slot_of<E>(Role::episode, "episode.start")])[place] = clock;
}

// What the arrays say after a snapshot was copied into them.
template <class E>
NACELLE_INLINE void continue_episode(const View<E>& view, uint64_t, LocalEnv<E>& local) {
    load_row<E>(view.array, slot_of<E>(Role::state), local.env, view.head.envs, local.state);
    local.running = 0;
}
template <class E>
NACELLE_INLINE void continue_episode(const View<E>& view, uint64_t tick, LocalTeam<E>& local) {
    load_members<E>(view, local, true, false);
    load_team_state<E>(view, local);
    load_episode<E>(view, tick, local);
    local.sync();
}
template <class E, class L>
NACELLE_INLINE void load_snapshot(const View<E>& view, uint64_t tick, L& local, size_t place,
                                  size_t size) {
    copy_snapshot<E>(view, local.threads, local.env, place, size, false);
    local.sync();
    local.length = 0;
    load_params<E>(view, local);
    continue_episode<E>(view, tick, local);
}

}
