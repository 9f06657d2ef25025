#pragma once
#include <nacelle/device/episode/local_env.h>
// What the policy and a critic see of an environment with one agent, as rows of floats and as images.

namespace nacelle::detail {

// Numbers of an observation as floats, in order.
template <class T, class Fn> NACELLE_INLINE void for_each_number(const T& object, Fn&& fn) {
    int n = 0;
    for_each_element(object, [&](auto, int, const auto& f) {
        if constexpr (form_of<decltype(f)> == Form::number) fn(n++, float(f));
    });
}
// A store of what the environment does not read again. It leaves the cache first, so that the states of a
// million environments stay in it from step to step.
template <class T> NACELLE_INLINE void store_streaming(T& place, T value) {
#if defined(__CUDACC_RTC__)
    __stcs(&place, value);
#else
    place = value;
#endif
}
// A row of floats, by 16 bytes at a time where its width allows: rows then start on 16 bytes.
template <int width> NACELLE_INLINE void store_row_of_floats(const float* value, float* row) {
#if NACELLE_GPU && !defined(NACELLE_EMULATE)
    if constexpr (width % 4 == 0) {
        NACELLE_UNROLL for (int i = 0; i < width; i += 4)
            store_streaming(*reinterpret_cast<float4*>(row + i),
                            make_float4(value[i], value[i + 1], value[i + 2], value[i + 3]));
        return;
    }
#endif
    NACELLE_UNROLL for (int i = 0; i < width; ++i) store_streaming(row[i], value[i]);
}
template <class T> NACELLE_INLINE void store_numbers(const T& object, float* row) {
    for_each_number(object, [&](int n, float x) { row[n] = x; });
}
#ifdef NACELLE_CHECKED
template <class T> NACELLE_INLINE void load_numbers(T& object, const float* row) {
    int n = 0;
    for_each_element(object, [&](auto, int, auto& f) {
        if constexpr (form_of<decltype(f)> == Form::number) f = bare<decltype(f)>(row[n++]);
    });
}
#endif

// Binds the arrays of an observation to their row, shared by `threads` threads.
template <class E, class G>
NACELLE_INLINE void bind_images(const View<E>& view, bool final, size_t row, ObsOf<E, G>& obs,
                                int thread = 0, int threads = 1) {
    constexpr int group = group_index<E, G>();
    int slot =
        final ? group_slot<E>(Role::final_obs, group, true) : group_slot<E>(Role::obs, group, true);
    for_each_element(obs, [&](auto, int, auto& f) {
        using L = Leaf<bare<decltype(f)>>;
        if constexpr (L::form == Form::array) {
            f.first = static_cast<typename L::element*>(view.array[slot++]) + row * L::count;
            f.stride = 1;
            f.lane = uint16_t(thread);
            f.lanes = uint16_t(threads);
        }
    });
}
// Wide observations of nothing but floats are written in place by the author's function.
template <class E>
inline constexpr bool in_place = (ObsInto<E> || ObsIntoEpisode<E>)&&all_floats<O<E>>;

template <class E, Role role>
NACELLE_INLINE void observe_row(const View<E>& view, uint64_t tick, const LocalEnv<E>& local,
                                float* row, int thread = 0, int threads = 1) {
    const Episode episode = episode_of<E>(view, tick, local);
    if constexpr (in_place<E>)
        call_observe<E>(local.state, local.params(view), episode, *reinterpret_cast<O<E>*>(row));
    else {
        O<E> obs;
        bind_images<E, Sole<E>>(view, role == Role::final_obs, local.env, obs, thread, threads);
#ifdef NACELLE_CHECKED
        // A number that observe() leaves out shows what was in its row: `nacelle check` compares
        // two fillings.
        load_numbers(obs, row);
#endif
        call_observe<E>(local.state, local.params(view), episode, obs);
        if (thread == 0) store_numbers(obs, row);
    }
}
// The same into registers of the caller, where the row is narrow enough for that.
template <class E, bool narrow>
NACELLE_INLINE void observe_local(const View<E>& view, uint64_t tick, const LocalEnv<E>& local,
                                  float* seen) {
    if constexpr (narrow) {
        O<E> obs;
        call_observe<E>(local.state, local.params(view), episode_of<E>(view, tick, local), obs);
        store_numbers(obs, seen);
    } else observe_row<E, Role::obs>(view, tick, local, seen);
}
template <class E, Role role = Role::obs>
NACELLE_INLINE float* obs_row(const View<E>& view, size_t env) {
    return column<E, float, role>(view) + env * numbers_in<O<E>>;
}
template <class E> NACELLE_INLINE uint8_t* mask_row(const View<E>& view, size_t env) {
    if constexpr (Masks<E>)
        return static_cast<uint8_t*>(view.array[slot_of<E>(Role::mask)]) + env * choices_in<A<E>>;
    else return nullptr;
}
// A record that keeps what critics see says where it goes; nobody's record does not.
struct NoRecord {};
template <class Record> inline constexpr bool keeps_overviews = requires(const Record& record) {
    record.overview(size_t(0), 0, false);
};
// What a critic sees behind step t goes to the environment's array, and where a record keeps it. What it saw where an
// episode ended is kept by records alone.
template <class E, class Record>
NACELLE_INLINE void keep_overview(const View<E>& view, size_t env, const GlobalOf<E>& overview,
                                  const Record& record, int t) {
    store_numbers(overview, static_cast<float*>(view.array[slot_of<E>(Role::global)]) +
                                env * numbers_in<GlobalOf<E>>);
    if constexpr (keeps_overviews<Record>) store_numbers(overview, record.overview(env, t, false));
}
template <class E, class Record>
NACELLE_INLINE void keep_last_overview(const View<E>& view, const LocalEnv<E>& local,
                                       const Record& record, int t) {
    if constexpr (keeps_overviews<Record>)
        store_numbers(E::overview(local.state, local.params(view)),
                      record.overview(local.env, t, true));
    (void)view, (void)local, (void)record, (void)t;
}
// What else the policy and a critic see; the observation itself is written by observe_row.
template <class E, class Record = NoRecord>
NACELLE_INLINE void look_local(const View<E>& view, const LocalEnv<E>& local,
                               const Record& record = {}, int t = 0) {
    if constexpr (Masks<E>) {
        Mask<A<E>> mask(mask_row<E>(view, local.env));
        E::mask(local.state, local.params(view), mask);
    }
    if constexpr (!same<GlobalOf<E>, None>)
        keep_overview<E>(view, local.env, E::overview(local.state, local.params(view)), record, t);
    (void)record, (void)t;
}

}
