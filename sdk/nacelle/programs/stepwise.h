#pragma once
#include <nacelle/programs/arguments.h>
#include <nacelle/sample.h>
// The engine's own kernels around an environment: step, reset, snapshots, the clock, the totals.

namespace nacelle {

namespace detail {

template <class E> struct EitherPolicy {
    bool draw;
    RandomPolicy<E> random;    // not cleared: it stores what it draws
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
#if NACELLE_GPU || !defined(NACELLE_DRAFT)
        if (draw) random.choose(rows);
        else GivenPolicy<E>{}.choose(rows);
#else
        // One loop, since the step is in it: it takes half as long to compile, and runs slower.
        const auto& words = random.random_words(rows);
        rows.for_own([&](int i) {
            rows.give(i, draw ? random.action(rows, i, words) : GivenPolicy<E>::action(rows, i));
        });
#endif
    }
};

// Of each step what a caller wants copied, while it is in the cache of the thread that has stepped a block.
template <class E> struct StepRecord {
    const StepCopies* to;

    NACELLE_INLINE void operator()(const Now&, const auto&, const Outcome&) const {}
#if !NACELLE_GPU
    // Of the environments from `first` on; in `found` of them an episode has ended.
    NACELLE_INLINE void stepped(const View<E>& view, size_t first, int count, const uint8_t* done,
                                int found) const {
        if (!to) return;
        const auto copy = [&](uint8_t* target, const uint8_t* from) {
            if (target) __builtin_memcpy(target + first, from, size_t(count));
        };
        copy(to->done, done);
        copy(to->terminated, column<E, uint8_t, Role::terminated>(view) + first);
        copy(to->truncated, column<E, uint8_t, Role::truncated>(view) + first);
        if (!found) return;
        if (to->any_done && !__atomic_load_n(to->any_done, __ATOMIC_RELAXED))
            __atomic_store_n(to->any_done, true, __ATOMIC_RELAXED);
    }
    NACELLE_INLINE void await(size_t env) const {
        if (to && to->last_return) __builtin_prefetch(to->last_return + env, 1);
        if (to && to->last_length) __builtin_prefetch(to->last_length + env, 1);
    }
    NACELLE_INLINE void ended(size_t env, const EpisodeSums& sums) const {
        if (to && to->last_return) to->last_return[env] = sums.last_return;
        if (to && to->last_length) to->last_length[env] = sums.last_length;
    }
#endif
};
template <class E>
NACELLE_INLINE void step_body(const View<E>& view, const StepArgs& args, Items items) {
    EitherPolicy<E> policy;
    policy.draw = args.draw != 0;
    rollout<E>(view, items, args.ahead, Index<1>{}, policy, StepRecord<E>{args.copies});
}

// What all see of an episode that has begun, and what a launch leaves behind.
template <class E>
NACELLE_INLINE void leave(const View<E>& view, uint64_t tick, LocalEnv<E>& local) {
    store_local<E>(view, local);
    observe_row<E, Role::obs>(view, tick, local, obs_row<E>(view, local.env));
    look_local<E>(view, local);
}
template <class E>
NACELLE_INLINE void leave(const View<E>& view, uint64_t tick, LocalTeam<E>& local) {
    const Source source = local.source(view, tick, Domain::reset);
    const Team<E> team(local.memory, local.threads, local.episode, source);
    constexpr int nothing = 0;    // no record
    look_team<E>(view, tick, 0, local, team, false, nothing);
    local.sync();
    store_team<E>(view, local);
    store_team_counters<E>(view, local);
}
// By all threads of an environment.
template <class E>
NACELLE_INLINE void reset_one(const View<E>& view, const ResetArgs& args, uint64_t tick,
                              size_t item) {
    const size_t env = args.chosen ? args.chosen[item] : item,
                 place = args.place ? args.place[item] : item;
    LocalOf<E> local(view, env);
    if (args.form == ResetArgs::save) return save_snapshot<E>(view, local, place, args.places);
    load_local<E>(view, tick, local);
    local.sync();
    if (args.form == ResetArgs::restore) load_snapshot<E>(view, tick, local, place, args.places);
    else if (args.form != ResetArgs::look)
        open_episode<E>(view, tick, local, args.form == ResetArgs::first_episode);
    leave<E>(view, tick, local);
    if (local.is_first())
        column<E, uint8_t, Role::terminated>(view)[env] =
            column<E, uint8_t, Role::truncated>(view)[env] = 0;
}
template <class E>
NACELLE_INLINE void reset_body(const View<E>& view, const ResetArgs& args, Items items) {
    if (!is_team<E> && !has_solo<E>(view.head.envs)) return;
    const uint64_t tick = view.head.clock->tick + args.ahead,
                   end = min(items.end, uint64_t(args.count));
    for (uint64_t item = items.begin; item < end; ++item)
        reset_one<E>(view, args, tick, size_t(item));
}

template <class E>
NACELLE_INLINE void clock_body(const View<E>& view, const ClockArgs& args, Items items) {
    if (items.begin == 0) view.head.clock->tick += args.by;
}

// The author's prepare() fills tables once; every thread fills its share of the elements.
template <class T> NACELLE_INLINE void take_lane(T&, int) {}
template <class T, int... D> NACELLE_INLINE void take_lane(Table<T, D...>& table, int lane) {
    table.lane = lane;
    table.lanes = prepare_lanes;
}
template <class E>
NACELLE_INLINE void prepare_body(const View<E>& view, const NoArgs&, Items items) {
    if constexpr (Prepares<E>)
        for (uint64_t item = items.begin; item < min(items.end, uint64_t(prepare_lanes)); ++item) {
            P<E> params = view.params;
            for_each_element(params, [&](auto, int, auto& f) { take_lane(f, int(item)); });
            E::prepare(params);
        }
}

// One item sums one group of environments in order, and clears what it has summed.
template <class T> NACELLE_INLINE double sum_and_clear(T* at, uint64_t count, uint64_t stride) {
    double whole = 0;
    NACELLE_ROLLED for (uint64_t i = 0; i < count; ++i) {
        whole += double(at[i * stride]);
        at[i * stride] = 0;
    }
    return whole;
}
template <class E>
NACELLE_INLINE void totals_body(const View<E>& view, const TotalsArgs& args, Items items) {
    constexpr int slot = slot_of<E>(Role::total),
                  logs = int(description<E>.header.slots) - slot - 1;
    const uint64_t envs = view.head.envs, groups = (envs + totals_group - 1) / totals_group,
                   end = min(items.end, groups);
    constexpr uint32_t kept = totals_kept<E>, line = is_team<E> ? 1 : group_envs;
    for (uint64_t group = items.begin; group < end; ++group) {
        double* const sums = args.sums + group * (kept + uint64_t(args.logs));
        const uint64_t first = group * totals_group,
                       count = min(uint64_t(totals_group), envs - first);
        double* const total = static_cast<double*>(view.array[slot]) + first / line * kept;
        NACELLE_ROLLED for (uint32_t k = 0; k < kept; ++k) sums[k] =
            sum_and_clear(total + k, (count + line - 1) / line, kept);
        uint32_t at = kept;
        NACELLE_ROLLED for (int k = 0; k < logs; ++k)
            NACELLE_ROLLED for (uint32_t i = 0;
                                i < description<E>.fields[field_total<E> - logs + k].count; ++i)
                sums[at++] = sum_and_clear(
                    static_cast<float*>(view.array[slot + 1 + k]) + i * envs + first, count, 1);
    }
}

// For pictures: a GPU has parameters and the addresses of tables in constant memory.
template <class E>
NACELLE_INLINE void params_body(const View<E>& view, const ParamsArgs& args, Items items) {
    const auto copy = [](unsigned char* to, const void* from, uint64_t i, uint64_t size) {
        if (i < size) to[i] = static_cast<const unsigned char*>(from)[i];
    };
    constexpr uint64_t most = sizeof(ViewHead) > sizeof(P<E>) ? sizeof(ViewHead) : sizeof(P<E>);
    for (uint64_t i = items.begin; i < min(items.end, most); ++i) {
        copy(args.head, &view.head, i, sizeof(ViewHead));
        copy(args.params, &view.params, i, sizeof(P<E>));
    }
}

}
}

#define NACELLE_STEP_KERNEL()                                                                      \
    NACELLE_ENV_KERNEL_OF(nacelle_step, nacelle::StepArgs,                                         \
                          nacelle::detail::Shape<nacelle::Author>::at_once,                        \
                          nacelle::detail::step_body)
#define NACELLE_RESET_KERNEL()                                                                     \
    NACELLE_ENV_KERNEL(nacelle_reset, nacelle::ResetArgs, nacelle::detail::reset_body)
#define NACELLE_SMALL_KERNELS()                                                                    \
    NACELLE_KERNEL(nacelle_clock, nacelle::ClockArgs, 128, nacelle::detail::clock_body)            \
    NACELLE_KERNEL(nacelle_totals, nacelle::TotalsArgs, 128, nacelle::detail::totals_body)         \
    NACELLE_KERNEL(nacelle_prepare, nacelle::NoArgs, 128, nacelle::detail::prepare_body)           \
    NACELLE_KERNEL(nacelle_params, nacelle::ParamsArgs, 128, nacelle::detail::params_body)
#define NACELLE_STEPWISE()                                                                         \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_STEP_KERNEL()                                                                          \
    NACELLE_RESET_KERNEL()                                                                         \
    NACELLE_SMALL_KERNELS()
