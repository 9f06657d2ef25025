#pragma once
#include <nacelle/kernel.h>
// The only code that advances an environment: the author's step, the time limit, the statistics, the
// final observation, the log, the next episode by reset or from a snapshot, the next observation.
// A lane is one environment on its way; loops over lanes are in rollout.h.

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
// What has ended since the lane was loaded. It reaches memory once, when the lane is put back. Sums of
// floats in double are exact for all but absurd spreads, so that their order does not matter.
struct Ledger {
    int episodes = 0, lengths = 0;
    double returns = 0, squares = 0;
    float last_return = 0;
    int last_length = 0;
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

template <class E> NACELLE_INLINE void load_params(const View<E>& view, size_t env, Lane<E>& lane) {
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

// The author's step, the clock, the limit, the return.
template <class E>
NACELLE_INLINE Outcome step_lane(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane,
                                 const A<E>& action) {
    ++lane.length;
    Rng rng(view.head.seed, Domain::step, tick, view.head.first_env + uint32_t(env));
    const Outcome said = call_step<E>(lane.state, action, lane.params(view), rng,
                                      episode_of<E>(view, tick, env, lane));
    const bool limit = time_limit_of<E>() > 0 && clock_of<E>(view, env, lane) >= time_limit_of<E>();
    lane.running += said.reward;
    return {said.reward, said.terminated,
            bool((said.truncated.byte | limit) & !said.terminated.byte)};
}

// Numbers of an observation as floats, in order.
template <class T, class Fn> NACELLE_INLINE void for_each_number(const T& object, Fn&& fn) {
    int n = 0;
    for_each_element(object, [&](auto, int, const auto& f) {
        if constexpr (form_of<decltype(f)> == Form::number) fn(n++, float(f));
    });
}
// Stores what the environment itself does not read again, first to leave the cache: the states of a
// million environments then stay in it from step to step.
template <class T> NACELLE_INLINE void pass_on(T& place, T value) {
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
            pass_on(*reinterpret_cast<float4*>(row + i),
                    make_float4(value[i], value[i + 1], value[i + 2], value[i + 3]));
        return;
    }
#endif
    NACELLE_UNROLL for (int i = 0; i < width; ++i) pass_on(row[i], value[i]);
}
template <class T> NACELLE_INLINE void store_numbers(const T& object, float* row) {
    for_each_number(object, [&](int n, float x) { row[n] = x; });
}

// Binds the arrays of an observation to their rows, shared by `lanes` threads.
template <class E, Role role>
NACELLE_INLINE void bind_images(const View<E>& view, size_t row, O<E>& obs, int lane, int lanes) {
    int slot = slot_of<E>(role) + 1;
    for_each_element(obs, [&](auto, int, auto& f) {
        using L = Leaf<bare<decltype(f)>>;
        if constexpr (L::form == Form::array) {
            f.first = static_cast<typename L::element*>(view.array[slot++]) + row * L::count;
            f.stride = 1;
            f.lane = uint16_t(lane);
            f.lanes = uint16_t(lanes);
        }
    });
}
// Wide observations of nothing but floats are written in place by the author's function.
template <class E>
inline constexpr bool in_place = (ObsInto<E> || ObsIntoEpisode<E>)&&all_floats<O<E>>;

template <class E, Role role>
NACELLE_INLINE void observe_row(const View<E>& view, uint64_t tick, size_t env, const Lane<E>& lane,
                                float* row, int thread = 0, int threads = 1) {
    const Episode episode = episode_of<E>(view, tick, env, lane);
    if constexpr (in_place<E>)
        call_observe<E>(lane.state, lane.params(view), episode, *reinterpret_cast<O<E>*>(row));
    else {
        O<E> obs;
        bind_images<E, role>(view, env, obs, thread, threads);
        call_observe<E>(lane.state, lane.params(view), episode, obs);
        if (thread == 0) store_numbers(obs, row);
    }
}
// The same into registers of the caller, where the row is narrow enough for that.
template <class E, bool narrow>
NACELLE_INLINE void observe_local(const View<E>& view, uint64_t tick, size_t env,
                                  const Lane<E>& lane, float* seen) {
    if constexpr (narrow) {
        O<E> obs;
        call_observe<E>(lane.state, lane.params(view), episode_of<E>(view, tick, env, lane), obs);
        store_numbers(obs, seen);
    } else observe_row<E, Role::obs>(view, tick, env, lane, seen);
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
// What else the policy and a critic see; the observation itself is written by observe_row.
template <class E>
NACELLE_INLINE void look_lane(const View<E>& view, size_t env, const Lane<E>& lane) {
    if constexpr (Masks<E>) {
        Mask<A<E>> mask(mask_row<E>(view, env));
        E::mask(lane.state, lane.params(view), mask);
    }
    if constexpr (!same<GlobalOf<E>, None>)
        store_numbers(E::overview(lane.state, lane.params(view)),
                      static_cast<float*>(view.array[slot_of<E>(Role::global)]) +
                          env * numbers_in<GlobalOf<E>>);
}

// The statistics and the log of the episode that has ended.
template <class E>
NACELLE_INLINE void close_episode(const View<E>& view, uint64_t tick, size_t env,
                                  const Lane<E>& lane, Ledger& ledger) {
    ++ledger.episodes;
    ledger.last_return = lane.running;
    ledger.last_length = lane.length;
    ledger.lengths += ledger.last_length;
    ledger.returns += double(lane.running);
    ledger.squares += double(times(lane.running, lane.running));
    if constexpr (!same<LogOf<E>, None>) {
        LogOf<E> log =
            call_report<E>(lane.state, lane.params(view), episode_of<E>(view, tick, env, lane));
        store_row<E>(view.array, slot_of<E>(Role::log), env, view.head.envs, log);
        for_each_element(log, [&](auto leaf, int k, auto& value) {
            static_cast<float*>(
                view.array[slot_of<E>(Role::total) + 1 + leaf])[size_t(k) * view.head.envs + env] +=
                float(value);
        });
    }
}
// One warp of one launch writes a line of totals, so the order of additions is fixed; on a GPU they are
// sent off without waiting for the line to be read.
NACELLE_INLINE void add_to(double* sum, double more) {
#if defined(__CUDACC_RTC__)
    asm volatile("red.global.add.f64 [%0], %1;" ::"l"(sum), "d"(more) : "memory");
#else
    *sum += more;
#endif
}
template <class E>
NACELLE_INLINE void add_totals(const View<E>& view, size_t env, const Ledger& sums) {
    double* const total =
        static_cast<double*>(view.array[slot_of<E>(Role::total)]) + env / group_envs * totals_kept;
    add_to(total, sums.episodes);
    add_to(total + 1, sums.returns);
    add_to(total + 2, sums.squares);
    add_to(total + 3, sums.lengths);
}
#if NACELLE_GPU
// The warp's sums in the order of its lanes; `present` are the lanes that have an environment. Reading
// and writing a line for every lane that ended would cost more than the rest of a step.
template <class E>
NACELLE_INLINE void store_ledger(const View<E>& view, size_t env, const Ledger& ledger,
                                 uint32_t present) {
    uint32_t ended = __ballot_sync(present, ledger.episodes > 0);
    if (!ended) return;
    Ledger sums;
    NACELLE_ROLLED while (ended) {
        const int lane = __ffs(int(ended)) - 1;
        ended &= ended - 1;
        sums.episodes += __shfl_sync(present, ledger.episodes, lane);
        sums.lengths += __shfl_sync(present, ledger.lengths, lane);
        sums.returns += __shfl_sync(present, ledger.returns, lane);
        sums.squares += __shfl_sync(present, ledger.squares, lane);
    }
    if (threadIdx.x % 32 == 0) add_totals<E>(view, env, sums);
}
#endif

template <class T> NACELLE_INLINE T drawn(const Draw& draw, Rng& rng) {
    constexpr bool whole = !same<T, float> && !same<T, double>;
    float x = draw.a;
    if (draw.form == Draw::uniform) {
        if constexpr (whole) return T(int(draw.a) + rng.below(int(draw.b) - int(draw.a) + 1));
        else x = rng.uniform(draw.a, draw.b);
    } else if (draw.form == Draw::log_uniform) x = exp(rng.uniform(log(draw.a), log(draw.b)));
    else if (draw.form == Draw::normal) x = draw.a + draw.b * rng.normal();
    else if (draw.form == Draw::choice) x = draw.value[rng.below(draw.count)];
    return T(whole ? floor(x + 0.5f) : x);
}
template <class E>
NACELLE_INLINE void draw_params(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane) {
    if constexpr (any_varied<E>()) {
        lane.own = view.params;
        Rng rng(view.head.seed, Domain::parameters, tick, view.head.first_env + uint32_t(env));
        for_each_varied<E>(lane.own, [&](int slot, int k, auto& value, int number) {
            using T = bare<decltype(value)>;
            value = drawn<T>(view.head.draws[number], rng);
            static_cast<T*>(view.array[slot])[size_t(k) * view.head.envs + env] = value;
        });
    }
}

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

// The next episode: from a snapshot with the chance that the run asks for, else by the author's reset.
template <class E>
NACELLE_INLINE void open_episode(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane,
                                 bool first) {
    const uint32_t row = view.head.first_env + uint32_t(env);
    if constexpr (uses_episode<E>) {
        uint32_t& number = NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[env];
        number = first ? 0 : number + 1;
    }
    lane.length = 0;
    bool fresh = true;
    if (view.head.pool_size) {
        Rng rng(view.head.seed, Domain::snapshots, tick, row);
        if (rng.chance(view.head.pool_chance)) {
            load_snapshot<E>(view, env, view.pool, size_t(rng.below(int(view.head.pool_size))),
                             view.head.pool_size, lane);
            fresh = false;
        }
    }
    if (fresh) {
        draw_params<E>(view, tick, env, lane);
        if constexpr (uses_episode<E>) {
            const uint32_t bits = Rng(view.head.seed, Domain::level, tick, row).bits();
            NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")
            [env] =
                view.head.levels ? uint32_t(uint64_t(bits) * view.head.levels >> 32) : bits >> 1;
        }
        if (view.head.pool_size) NACELLE_COLUMN(view, int, Role::episode, "episode.start")[env] = 0;
        Rng rng(view.head.seed, Domain::reset, tick, row);
        call_reset<E>(lane.state, lane.params(view), rng, episode_of<E>(view, tick, env, lane));
    }
    lane.running = 0;
}

}
