#pragma once
#include <nacelle/device/episode/snapshot.h>
#include <nacelle/device/team/team_look.h>
// How a team advances: advance.h's part for those who act together.

namespace nacelle::detail {

// Which members take part from now on. Free functions: a lambda's discarded branches are compiled.
template <class E, class G>
NACELLE_INLINE uint8_t next_turn(const View<E>& view, const Team<E>& team, TeamLane<E>& lane,
                                 const Member<E, G>& me) {
    if constexpr (has_turn<E, G>) return uint8_t(E::turn(team, me, lane.params(view)));
    else return uint8_t(Turn::acts);
}
template <class E, class G>
NACELLE_INLINE void ask_group(const View<E>& view, const Team<E>& team, TeamLane<E>& lane,
                              bool fresh) {
    auto& squad = lane.memory.template squad<G>();
    lane.gang.template spread_over<count_of<E, G>>([&](int i) {
        const uint8_t next = next_turn<E, G>(view, team, lane, member_of(squad, i));
        const bool out =
            next == uint8_t(Turn::out) && (fresh || (turn_at(squad, i) & 3) == uint8_t(Turn::out));
        set_turn(squad, i, next | (out ? was_out : 0));
    });
}
// Whether a member's row may be written by another thread than the one that asked for its turn.
template <class E, class G> constexpr bool looks_elsewhere() {
    constexpr int unit = Shape<E>::unit, staged = rows_staged(numbers_in<ObsOf<E, G>>, unit);
    return has_turn<E, G> && (bins_in<E, G> > 0 || (staged > 0 && staged < unit));
}
template <class E>
NACELLE_INLINE void ask_turns(const View<E>& view, const Team<E>& team, TeamLane<E>& lane,
                              bool fresh) {
    bool elsewhere = false;
    for_each_group<E>([&]<class G, int>() {
        if (has_turn<E, G>) ask_group<E, G>(view, team, lane, fresh);
        elsewhere = elsewhere || looks_elsewhere<E, G>();
    });
    if (elsewhere) lane.gang.sync();
}

template <class E>
NACELLE_INLINE void report_team(const View<E>& view, const Team<E>& team, TeamLane<E>& lane) {
    if constexpr (!same<LogOf<E>, None>) {
        LogOf<E> log = E::report(team, lane.params(view));
        store_row<E>(view.array, slot_of<E>(Role::log), lane.env, view.head.envs, log);
        for_each_element(log, [&](auto leaf, int k, auto& value) {
            static_cast<float*>(view.array[slot_of<E>(Role::total) + 1 +
                                           leaf])[size_t(k) * view.head.envs + lane.env] +=
                float(value);
        });
    }
}
// The statistics and the log of the episode that has ended.
template <class E>
NACELLE_INLINE void close_team(const View<E>& view, const Team<E>& team, TeamLane<E>& lane) {
    double* const total =
        static_cast<double*>(view.array[slot_of<E>(Role::total)]) + lane.env * totals_kept<E>;
    const bool one = lane.gang.lane == 0;
    store_team_counters<E>(view, lane);
    if (one) {
        total[0] += 1;
        total[1] += lane.length;
    }
    int turn = 0;
    for_each_group<E>([&]<class G, int I>() {
        constexpr int count = count_of<E, G>;
        auto& squad = lane.memory.template squad<G>();
        constexpr int first = has_policies<E> ? 0 : I,
                      last = has_policies<E> ? policy_count<E>() : I + 1;
        NACELLE_ROLLED for (int p = first; p < last; ++p) {
            const float whole = lane.gang.template combine<count>(
                lane.memory, turn, -0.0f,
                [&](int i) { return policy_of<E>(I, i) == p ? squad.running[i] : -0.0f; },
                [](float a, float b) { return a + b; });
            const uint32_t deciding = description<E>.header.policy[p].agents;
            const float mean = divided(whole, float(deciding ? deciding : 1));
            if (one) {
                total[2 + 2 * p] += double(mean);
                total[3 + 2 * p] += double(times(mean, mean));
            }
        }
    });
    if (one) report_team<E>(view, team, lane);
}

// The next episode: from a snapshot with the chance that the run asks for, else by the author's reset.
template <class E>
NACELLE_INLINE void open_team(const View<E>& view, uint64_t tick, TeamLane<E>& lane, bool first) {
    const uint32_t row = view.head.first_env + uint32_t(lane.env);
    const bool one = lane.gang.lane == 0;
    uint32_t& number = NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[lane.env];
    lane.gang.sync();
    const uint32_t next = first ? 0 : lane.episode.number + 1;
    lane.length = 0;
    if (view.head.pool_size) {
        Rng rng(view.head.seed, Domain::snapshots, tick, row);
        if (rng.chance(view.head.pool_chance)) {
            load_team_snapshot<E>(view, tick, lane, size_t(rng.below(int(view.head.pool_size))),
                                  view.head.pool_size);
            lane.episode.number = next;
            if (one) number = next;
            return;
        }
    }
    const uint32_t bits = Rng(view.head.seed, Domain::level, tick, row).bits(),
                   level = view.head.levels ? uint32_t(uint64_t(bits) * view.head.levels >> 32)
                                            : bits >> 1;
    draw_params<E>(view, tick, lane.env, lane);
    lane.start = 0;
    lane.episode = {row, next, level, 0, progress_at(view.head, tick)};
    if (one) {
        number = next;
        NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")[lane.env] = level;
        if (view.head.pool_size)
            NACELLE_COLUMN(view, int, Role::episode, "episode.start")[lane.env] = 0;
    }
    for_each_group<E>([&]<class G, int>() {
        auto& squad = lane.memory.template squad<G>();
        lane.gang.template spread_over<count_of<E, G>>([&](int i) {
            squad.running[i] = 0;
            set_turn(squad, i, 0);
            member_of(squad, i).reward = 0;
            member_of(squad, i).acts = true;
        });
        empty_bins<E, G>(lane.memory, lane.gang);
    });
    lane.gang.sync();
    const Source source = lane.source(view, tick, Domain::reset);
    Team<E> team(lane.memory, lane.gang, lane.episode, source);
    E::reset(team, lane.params(view));
    lane.gang.sync();
    ask_turns<E>(view, team, lane, true);
    lane.gang.sync();
}

}
