#pragma once
#include <nacelle/programs/arguments.h>
#include <nacelle/sample.h>
// The engine's own kernels around an environment: step, reset, snapshots, the clock, the totals.

namespace nacelle {

namespace detail {

#if NACELLE_GPU
// Both in one: two loops would double the time to compile.
template <class E> struct EitherPolicy {
    static constexpr bool row_by_row = true;
    bool draw;
    NACELLE_INLINE void act(const View<E>& view, const Now& now, A<E>& action) {
        if (draw) random.act(view, now, action);
        else GivenPolicy<E>{}.act(view, now, action);
    }
    template <class G>
    NACELLE_INLINE void block(const View<E>& view, uint64_t tick, int t, size_t env, int block) {
        if (draw) random.template block<G>(view, tick, t, env, block);
    }
    template <class G>
    NACELLE_INLINE void act(const View<E>& view, const Now& now, int k, ActionOf<E, G>& action) {
        if (draw) random.template act<G>(view, now, k, action);
        else GivenPolicy<E>{}.template act<G>(view, now, k, action);
    }
    RandomPolicy<E> random{};
};
#elif defined(NACELLE_DRAFT)
// The same on a CPU, where a build is wanted soon and not for long. What is drawn for nothing changes
// nothing: random numbers are counted, not consumed.
template <class E> struct EitherPolicy {
    template <class Random, class Given> struct Actor {
        bool draw;
        Random random;
        Given given;
        template <class... To> NACELLE_INLINE void act(To&&... to) const {
            if (draw) random.act(to...);
            else given.act(to...);
        }
    };
    template <class Random, class Given> Actor(bool, Random, Given) -> Actor<Random, Given>;

    auto block(const View<E>& view, uint64_t tick, int t, size_t begin, int count) {
        return Actor{draw, random.block(view, tick, t, begin, count), GivenPolicy<E>{}};
    }
    template <class G>
    auto block(const View<E>& view, uint64_t tick, int t, size_t env, int block, int count) {
        return Actor{draw, random.template block<G>(view, tick, t, env, block, count),
                     GivenPolicy<E>{}.template block<G>(view, tick, t, env, block, count)};
    }
    bool draw;
    RandomPolicy<E> random{};
};
#endif
template <class E>
NACELLE_INLINE void step_body(const View<E>& view, const StepArgs& args, Items items) {
    const auto nothing = [](const Now&, const auto&, const Outcome&) {};
    constexpr Index<1> one;
#if NACELLE_GPU || defined(NACELLE_DRAFT)
    EitherPolicy<E> policy{.draw = args.draw != 0};
    rollout<E>(view, items, args.ahead, one, policy, nothing);
#else
    RandomPolicy<E> random;
    GivenPolicy<E> given;
    if (args.draw) rollout<E>(view, items, args.ahead, one, random, nothing);
    else rollout<E>(view, items, args.ahead, one, given, nothing);
#endif
}

template <class E>
NACELLE_INLINE void observe_alone(const View<E>& view, uint64_t tick, size_t env,
                                  const Lane<E>& lane) {
    observe_row<E, Role::obs>(view, tick, env, lane, obs_row<E>(view, env));
    look_lane<E>(view, env, lane);
}
template <class E>
NACELLE_INLINE void reset_one(const View<E>& view, const ResetArgs& args, uint64_t tick,
                              size_t item) {
    const size_t env = args.chosen ? args.chosen[item] : item,
                 place = args.place ? args.place[item] : item;
    if (args.form == ResetArgs::save)
        return save_snapshot<E>(view, env, view.pool, place, args.places);
    Lane<E> lane;
    bind_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
    if (args.form == ResetArgs::restore) {
        load_snapshot<E>(view, env, view.pool, place, args.places, lane);
    } else if (args.form == ResetArgs::look) load_lane<E>(view, env, lane);
    else open_episode<E>(view, tick, env, lane, args.form == ResetArgs::first_episode);
    store_lane<E>(view, env, lane);
    column<E, uint8_t, Role::terminated>(view)[env] =
        column<E, uint8_t, Role::truncated>(view)[env] = 0;
    observe_alone<E>(view, tick, env, lane);
}
// The same of a team, by all of its threads.
template <class E>
NACELLE_INLINE void reset_team(const View<E>& view, const ResetArgs& args, uint64_t tick,
                               size_t item) {
    const size_t env = args.chosen ? args.chosen[item] : item,
                 place = args.place ? args.place[item] : item;
    TeamLane<E> lane(view, env);
    if (args.form == ResetArgs::save) return save_team_snapshot<E>(view, lane, place, args.places);
    load_team<E>(view, tick, lane, ended_before<E>(view, env));
    lane.gang.sync();
    if (args.form == ResetArgs::restore)
        load_team_snapshot<E>(view, tick, lane, place, args.places);
    else if (args.form != ResetArgs::look)
        open_team<E>(view, tick, lane, args.form == ResetArgs::first_episode);
    const Source source = lane.source(view, tick, Domain::reset);
    const Team<E> team(lane.memory, lane.gang, lane.episode, source);
    look_team<E>(view, tick, 0, 0, lane, team, false, args);
    lane.gang.sync();
    store_team<E>(view, lane);
    store_team_counters<E>(view, lane);
    if (lane.gang.lane == 0)
        column<E, uint8_t, Role::terminated>(view)[env] =
            column<E, uint8_t, Role::truncated>(view)[env] = 0;
}
template <class E>
NACELLE_INLINE void reset_body(const View<E>& view, const ResetArgs& args, Items items) {
    const uint64_t tick = view.head.beat->clock + args.ahead,
                   end = min(items.end, uint64_t(args.count));
    for (uint64_t item = items.begin; item < end; ++item) {
        if constexpr (is_team<E>) reset_team<E>(view, args, tick, size_t(item));
        else reset_one<E>(view, args, tick, size_t(item));
    }
}

template <class E>
NACELLE_INLINE void clock_body(const View<E>& view, const ClockArgs& args, Items items) {
    if (items.begin == 0) view.head.beat->clock += args.by;
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

#define NACELLE_STEPWISE()                                                                         \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_ENV_KERNEL_OF(nacelle_step, nacelle::StepArgs,                                         \
                          nacelle::detail::Shape<nacelle::Author>::at_once,                        \
                          nacelle::detail::step_body)                                              \
    NACELLE_ENV_KERNEL(nacelle_reset, nacelle::ResetArgs, nacelle::detail::reset_body)             \
    NACELLE_KERNEL(nacelle_clock, nacelle::ClockArgs, 128, nacelle::detail::clock_body)            \
    NACELLE_KERNEL(nacelle_totals, nacelle::TotalsArgs, 128, nacelle::detail::totals_body)         \
    NACELLE_KERNEL(nacelle_prepare, nacelle::NoArgs, 128, nacelle::detail::prepare_body)           \
    NACELLE_KERNEL(nacelle_params, nacelle::ParamsArgs, 128, nacelle::detail::params_body)
