#pragma once
#include <nacelle/device/episode/statistics.h>
#include <nacelle/device/team/team_load.h>
#include <nacelle/device/team/team_look.h>
// The parts of a step that only teams have: turns, returns by policy, and the reset of all members.

namespace nacelle::detail {

// Which members act from now on. Free functions, since a lambda's discarded branches are compiled.
template <class E, class G>
NACELLE_INLINE uint8_t next_turn(const View<E>& view, const Team<E>& team, LocalTeam<E>& local,
                                 const Member<E, G>& me) {
    if constexpr (has_turn<E, G>) return uint8_t(E::turn(team, me, local.params(view)));
    else return uint8_t(Turn::acts);
}
template <class E, class G>
NACELLE_INLINE void ask_group(const View<E>& view, const Team<E>& team, LocalTeam<E>& local,
                              bool fresh) {
    auto& members = local.memory.template group<G>();
    local.threads.template spread_over<count_of<E, G>>([&](int i) {
        const uint8_t next = next_turn<E, G>(view, team, local, member_of(members, i));
        const bool out = next == uint8_t(Turn::out) &&
                         (fresh || (turn_at(members, i) & 3) == uint8_t(Turn::out));
        set_turn(members, i, next | (out ? was_out : 0));
    });
}
// Whether a member's row may be written by another thread than the one that asked for its turn.
template <class E, class G> constexpr bool looks_elsewhere() {
    constexpr int unit = Shape<E>::unit,
                  staged = rows_staged(numbers_in<ObsOf<E, G>>, unit, Shape<E>::room);
    return has_turn<E, G> && (bins_in<E, G> > 0 || (staged > 0 && staged < unit));
}
template <class E>
NACELLE_INLINE void ask_turns(const View<E>& view, const Team<E>& team, LocalTeam<E>& local,
                              bool fresh) {
    bool elsewhere = false;
    for_each_group<E>([&]<class G, int>() {
        if (has_turn<E, G>) ask_group<E, G>(view, team, local, fresh);
        elsewhere = elsewhere || looks_elsewhere<E, G>();
    });
    if (elsewhere) local.threads.sync();
}

// The statistics and the log of the episode that has ended.
template <class E>
NACELLE_INLINE void close_episode(const View<E>& view, const Team<E>& team, LocalTeam<E>& local) {
    double* const total =
        static_cast<double*>(view.array[slot_of<E>(Role::total)]) + local.env * totals_kept<E>;
    const bool one = local.is_first();
    store_team_counters<E>(view, local);
    if (one) {
        total[0] += 1;
        total[1] += local.length;
    }
    int turn = 0;
    for_each_group<E>([&]<class G, int I>() {
        constexpr int count = count_of<E, G>;
        auto& members = local.memory.template group<G>();
        constexpr int first = has_policies<E> ? 0 : I,
                      last = has_policies<E> ? policy_count<E>() : I + 1;
        NACELLE_ROLLED for (int p = first; p < last; ++p) {
            const float whole = local.threads.template combine<count>(
                local.memory, turn, -0.0f,
                [&](int i) { return policy_of<E>(I, i) == p ? members.running[i] : -0.0f; },
                [](float a, float b) { return a + b; });
            const uint32_t deciding = description<E>.header.policy[p].agents;
            const float mean = divided(whole, float(deciding ? deciding : 1));
            if (one) {
                total[2 + 2 * p] += double(mean);
                total[3 + 2 * p] += double(times(mean, mean));
            }
        }
    });
    if constexpr (!same<LogOf<E>, None>)
        if (one) keep_log<E>(view, local.env, E::report(team, local.params(view)));
}

// The author's reset, and returns of 0.
template <class E>
NACELLE_INLINE void begin_episode(const View<E>& view, uint64_t tick, LocalTeam<E>& local,
                                  uint32_t number, uint32_t level) {
    local.start = 0;
    local.episode = {view.head.first_env + uint32_t(local.env), number, level, 0,
                     progress_at(view.head, tick)};
    for_each_group<E>([&]<class G, int>() {
        auto& members = local.memory.template group<G>();
        local.threads.template spread_over<count_of<E, G>>([&](int i) {
            members.running[i] = 0;
            set_turn(members, i, 0);
            member_of(members, i).reward = 0;
            member_of(members, i).acts = true;
        });
        empty_bins<E, G>(local.memory, local.threads);
    });
    local.sync();
    const Source source = local.source(view, tick, Domain::reset);
    Team<E> team(local.memory, local.threads, local.episode, source);
    E::reset(team, local.params(view));
    local.sync();
    ask_turns<E>(view, team, local, true);
    local.sync();
}

}
