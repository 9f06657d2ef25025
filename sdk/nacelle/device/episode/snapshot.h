#pragma once
#include <nacelle/device/team/team_load.h>
// Snapshots: what makes up an environment, copied to a pool and back.

namespace nacelle::detail {

// Element i of a field's row moves between two arrays of the same layout with other numbers of rows.
template <class T>
NACELLE_INLINE void copy_elements(const Field& f, const void* source, size_t from, size_t rows,
                                  void* target, size_t to, size_t target_rows) {
    const bool columns = f.layout == Layout::columns;
    NACELLE_ROLLED for (uint32_t i = 0; i < f.count; ++i) static_cast<T*>(
        target)[columns ? i * target_rows + to : to * f.count + i] =
        static_cast<const T*>(source)[columns ? i * rows + from : from * f.count + i];
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
// What a snapshot holds moves between an environment and a place in a pool of `size` snapshots.
template <class E>
NACELLE_INLINE void save_snapshot(const View<E>& view, size_t env, void* const* pool, size_t place,
                                  size_t size) {
    for_each_kept<E>([&](const Field& f, auto unit) {
        copy_elements<decltype(unit)>(f, view.array[f.slot], env, view.head.envs, pool[f.slot],
                                      place, size);
    });
    // The clock as it stands: an episode that goes on from here starts there.
    Lane<E> lane;
    load_counters<E>(view, env, lane,
                     column<E, uint8_t, Role::terminated>(view)[env] |
                         column<E, uint8_t, Role::truncated>(view)[env]);
    static_cast<int*>(pool[slot_of<E>(Role::episode, "episode.start")])[place] =
        clock_of<E>(view, env, lane);
}
template <class E>
NACELLE_INLINE void load_snapshot(const View<E>& view, size_t env, void* const* pool, size_t place,
                                  size_t size, Lane<E>& lane) {
    for_each_kept<E>([&](const Field& f, auto unit) {
        copy_elements<decltype(unit)>(f, pool[f.slot], place, size, view.array[f.slot], env,
                                      view.head.envs);
    });
    load_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
    load_params<E>(view, env, lane);
    lane.length = 0;
    lane.running = 0;
}

// The same of a team, by all of its threads: of what agents have there is a row for each.
template <class E> NACELLE_INLINE int rows_in_snapshot(const Field& f) {
    return f.per == Per::row ? int(description<E>.header.group[f.group].count) : 1;
}
template <class E>
NACELLE_INLINE void copy_team(const View<E>& view, TeamLane<E>& lane, void* const* pool,
                              size_t place, size_t size, bool save) {
    for_each_kept<E>([&](const Field& f, auto unit) {
        using T = decltype(unit);
        const int n = rows_in_snapshot<E>(f);
        const size_t envs = size_t(view.head.envs) * size_t(n), places = size * size_t(n);
        lane.gang.spread(n, [&](int i) {
            const size_t own = lane.env * size_t(n) + size_t(i),
                         there = place * size_t(n) + size_t(i);
            if (save)
                copy_elements<T>(f, view.array[f.slot], own, envs, pool[f.slot], there, places);
            else copy_elements<T>(f, pool[f.slot], there, places, view.array[f.slot], own, envs);
        });
    });
}
template <class E>
NACELLE_INLINE void save_team_snapshot(const View<E>& view, TeamLane<E>& lane, size_t place,
                                       size_t size) {
    copy_team<E>(view, lane, view.pool, place, size, true);
    const int length = NACELLE_COLUMN(view, int, Role::episode, "episode.length")[lane.env];
    const int start = view.head.pool_size
                          ? NACELLE_COLUMN(view, int, Role::episode, "episode.start")[lane.env]
                          : 0;
    lane.gang.sync();    // who copied the start that the episode had is done with it
    if (lane.gang.lane == 0)
        static_cast<int*>(view.pool[slot_of<E>(Role::episode, "episode.start")])[place] =
            start + (ended_before<E>(view, lane.env) ? 0 : length);
}
template <class E>
NACELLE_INLINE void load_team_snapshot(const View<E>& view, uint64_t tick, TeamLane<E>& lane,
                                       size_t place, size_t size) {
    copy_team<E>(view, lane, view.pool, place, size, false);
    lane.gang.sync();
    lane.length = 0;
    load_params<E>(view, lane.env, lane);
    load_members<E>(view, lane, true, false);
    load_team_state<E>(view, lane);
    load_episode<E>(view, tick, lane);
    lane.gang.sync();
}

}
