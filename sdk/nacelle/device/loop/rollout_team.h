#pragma once
#include <nacelle/device/team/team_step.h>
// Included by rollout.h: teams. All threads of a team go through this together, on a CPU the one that
// there is.

namespace nacelle::detail {

// Every member's action, and what else a step begins with. Who does not act does nothing.
template <class E, class G, class Choose>
NACELLE_INLINE void prepare_member(TeamLane<E>& lane, Member<E, G>& me, int i, Choose&& choose) {
    auto& squad = lane.memory.template squad<G>();
    me.reward = 0;
    const bool acts = (turn_at(squad, i) & 3) == uint8_t(Turn::acts);
    if (has_turn<E, G>) me.acts = acts;    // else it has been true since the team was loaded
    if (acts) choose(me.action);
    else for_each_element(me.action, [](auto, int, auto& part) { part.value = 0; });
}
// Rows share blocks of random numbers with those 32 and 64 and 96 further on, as many as find room in one:
// so a thread draws once for several agents.
template <class E, class G> struct Shared {
    static constexpr int parts = sum_over<ActionOf<E, G>, CountEach>(),
                         rows = parts > 2 || count_of<E, G> <= 32 ? 1 : 4 / parts, span = 32 * rows,
                         blocks = count_of<E, G> <= 32 ? count_of<E, G>
                                                       : 32 * ((count_of<E, G> + span - 1) / span);
};
template <class E, class G, class Policy>
NACELLE_INLINE void choose_group(const View<E>& view, uint64_t tick, int t, TeamLane<E>& lane,
                                 const float* rows, Policy& policy) {
    using Form = Shared<E, G>;
    constexpr int group = group_index<E, G>(), count = count_of<E, G>,
                  width = numbers_in<ObsOf<E, G>>, choices = choices_in<ActionOf<E, G>>;
    const uint8_t* masks = nullptr;
    if constexpr (has_mask<E, G>) masks = group_column<E, uint8_t, Role::mask, group>(view);
    const auto now_of = [&](int i) {
        const size_t row = row_of<E, G>(lane.env, i);
        return Now{lane.env,
                   row,
                   t,
                   tick,
                   rows + row * size_t(width),
                   masks ? masks + row * size_t(choices) : nullptr};
    };
    auto& squad = lane.memory.template squad<G>();
#if NACELLE_GPU
    const auto prepare = [&](Member<E, G>& me, int i, int k) {
        prepare_member<E, G>(lane, me, i, [&](ActionOf<E, G>& action) {
            policy.template act<G>(view, now_of(i), k, action);
        });
    };
    if constexpr (moves<E, G> && requires { requires Policy::row_by_row; }) {
        // By place, since neighbours write to the same lines, though each then draws numbers for others, too.
        lane.gang.template spread_over<count>([&](int place) {
            const int i = squad.id[place];
            policy.template block<G>(view, tick, t, lane.env, i / Form::span * 32 + i % 32);
            NACELLE_UNROLL for (int k = 0; k < Form::rows; ++k) if (i / 32 % Form::rows == k)
                prepare(squad.member[place], i, k);
        });
    } else
        lane.gang.template spread_over<Form::blocks>([&](int block) {
            const int first = block / 32 * Form::span + block % 32;
            policy.template block<G>(view, tick, t, lane.env, block);
            NACELLE_UNROLL for (int k = 0; k < Form::rows; ++k) {
                const int i = first + 32 * k;
                if (i < count) prepare(member_of(squad, i), i, k);
            }
        });
#else
    for (int first = 0, block = 0; first < count; first += Form::span, block += 32) {
        const int end = min(first + Form::span, count);
        const auto actor =
            policy.template block<G>(view, tick, t, lane.env, block, min(32, Form::blocks - block));
        for (int i = first; i < end; ++i)
            prepare_member<E, G>(lane, member_of(squad, i), i, [&](ActionOf<E, G>& action) {
                actor.act(view, now_of(i), (i - first) / 32, (i - first) % 32, action);
            });
    }
#endif
}

template <class E, class G>
NACELLE_INLINE void store_ended(const View<E>& view, size_t row, bool ended) {
    if constexpr (has_turn<E, G>)
        group_column<E, uint8_t, Role::ended, group_index<E, G>()>(view)[row] = ended;
}
// Where a launch is one step, members in global memory are read once, as a whole: for what the step led to,
// and for what is left behind.
template <class E, class G, class Steps>
inline constexpr bool leaves_at_once =
    same<Steps, Index<1>>&& Shape<E>::workspace > 0 && goes_as_one<E, G>;
template <class M, bool copied> struct SeenAs { using type = M&; };
template <class M> struct SeenAs<M, true> { using type = M; };

// What a step led to for each member. The last step of a launch leaves it in the arrays; `leaving`: and the
// member and its return, too.
template <class E, class G, bool leaving, class Record>
NACELLE_INLINE void settle_group(const View<E>& view, uint64_t tick, int t, bool last,
                                 TeamLane<E>& lane, bool terminated, bool truncated,
                                 Record& record) {
    constexpr int group = group_index<E, G>();
    auto& squad = lane.memory.template squad<G>();
    lane.gang.template spread_over<count_of<E, G>>([&](int i) {
        const size_t row = row_of<E, G>(lane.env, i);
        typename SeenAs<Member<E, G>, leaving>::type me = member_of(squad, i);
        if (leaving) store_member<E, G>(view, lane, i, me);
        if (!finite(me.reward))
            note_bad(view.head, Bad::reward, tick, row_in_all<E, G>(lane.env, i));
        if (me.reward != 0.0f)
            squad.running[i] += me.reward;    // most of a large team's are not touched
        if (leaving) store_return<E, G>(view, lane, i);
        const bool went_out =
            has_turn<E, G> && turn_at(squad, i) == uint8_t(Turn::out);    // and not before
        if (last) store_ended<E, G>(view, row, went_out || terminated || truncated);
        record(Now{lane.env, row, t, tick, nullptr, nullptr}, me,
               Outcome{me.reward, terminated || went_out, truncated && !went_out});
        if (last) {
            pass_on(group_column<E, float, Role::reward, group>(view)[row], me.reward);
            visit_row<E>(view.array, group_slot<E>(Role::action, group), row, rows_of<E, G>(view),
                         me.action, [](auto& stored, auto& value) { pass_on(stored, value); });
        }
    });
}

// Where the observations after step t go: to the record, if it has rows for the next step, or to `obs`.
template <class E, int I, class Record>
NACELLE_INLINE float* rows_after(const View<E>& view, int next, int steps, Record& record) {
    if constexpr (requires { record.rows(0, 0); })
        if (next < steps) return record.rows(I, next);
    (void)next, (void)steps, (void)record;
    return group_column<E, float, Role::obs, I>(view);
}
// The rows that the first step's actions were chosen by are in `obs`; the record gets its own.
template <class E, class Record>
NACELLE_INLINE void copy_first_rows(const View<E>& view, TeamLane<E>& lane, Record& record) {
    if constexpr (requires { record.rows(0, 0); })
        for_each_group<E>([&]<class G, int I>() {
            constexpr int numbers = count_of<E, G> * numbers_in<ObsOf<E, G>>;
            const size_t first = lane.env * size_t(numbers);
            const float* const from = group_column<E, float, Role::obs, I>(view) + first;
            float* const to = record.rows(I, 0) + first;
            lane.gang.template spread_over<numbers, Weight::light>(
                [&](int i) { pass_on(to[i], from[i]); });
        });
}

// All that a team sees, in one place: twice where an episode ends, so that no code is there twice.
template <class E, class Record>
NACELLE_INLINE void look_team(const View<E>& view, uint64_t tick, int next, int steps,
                              TeamLane<E>& lane, const Team<E>& team, bool final, Record& record) {
    for_each_group<E>([&]<class G, int I>() {
        float* const to = final ? group_column<E, float, Role::final_obs, I>(view)
                                : rows_after<E, I>(view, next, steps, record);
        look_group<E, G>(view, tick, team, lane, final, to);
    });
    if (final) return;
    for_each_group<E>([&]<class G, int>() { mask_group<E, G>(view, team, lane); });
    overview_team<E>(view, team, lane);
}

template <class E, class Steps, class Policy, class Record>
NACELLE_INLINE void play(const View<E>& view, size_t env, uint32_t ahead, Steps steps,
                         Policy& policy, Record& record) {
    const Time now = time_of(view.head, ahead);
    if (now.stopped) return;
    uint64_t tick = now.tick;    // no structured binding: clang 14 lets no lambda capture one
    TeamLane<E> lane(view, env);
    load_team<E>(view, tick, lane, ended_before<E>(view, env));
    copy_first_rows<E>(view, lane, record);
    bool terminated = false, truncated = false;
    NACELLE_ROLLED for (int t = 0; t < steps; ++t, ++tick) {
        lane.gang.sync();
        ++lane.length;
        lane.episode.step = lane.start + lane.length;
        lane.episode.progress = progress_at(view.head, tick);
        for_each_group<E>([&]<class G, int I>() {
            choose_group<E, G>(view, tick, t, lane, rows_after<E, I>(view, t, steps, record),
                               policy);
        });
        lane.gang.sync();
        const Source source = lane.source(view, tick, Domain::step);
        Team<E> team(lane.memory, lane.gang, lane.episode, source);
        const Ending ending = E::step(team, lane.params(view));
        lane.gang.sync();
        const bool limit = time_limit_of<E>() > 0 && lane.episode.step >= time_limit_of<E>();
        terminated = ending == Ending::terminated;
        truncated = !terminated && (limit || ending == Ending::truncated);
        const bool over = terminated || truncated;
        ask_turns<E>(view, team, lane, false);
        for_each_group<E>([&]<class G, int>() {
            // Who leaves at once and begins another episode is stored again at the end.
            settle_group<E, G, leaves_at_once<E, G, Steps>>(view, tick, t, t + 1 == steps, lane,
                                                            terminated, truncated, record);
        });
        NACELLE_ROLLED for (int pass = over ? 0 : 1; pass < 2; ++pass) {
            const bool final = pass == 0;
            look_team<E>(view, tick, t + 1, steps, lane, team, final, record);
            if (final) {
                close_team<E>(view, team, lane);
                open_team<E>(view, tick, lane, false);
            }
        }
    }
    // No barrier: nobody writes while others still look, and each stores what it may read.
    const bool over = terminated || truncated;
    for_each_group<E>([&]<class G, int>() {
        constexpr bool left = leaves_at_once<E, G, Steps>;
        if (!left || over) store_group<E, G>(view, lane);
        if (!left && !over) store_returns<E, G>(view, lane);
    });
    store_team_state<E>(view, lane);
    if (!over) store_length<E>(view, lane);
    if (lane.gang.lane == 0) {
        column<E, uint8_t, Role::terminated>(view)[env] = terminated;
        column<E, uint8_t, Role::truncated>(view)[env] = truncated;
    }
}

template <class E, class Steps, class Policy, class Record>
NACELLE_INLINE void rollout_teams(const View<E>& view, Items items, uint32_t ahead, Steps steps,
                                  Policy& policy, Record& record) {
    const uint64_t end = min(items.end, uint64_t(view.head.envs));
    for (uint64_t env = items.begin; env < end; ++env)
        play<E>(view, size_t(env), ahead, steps, policy, record);
}

}
