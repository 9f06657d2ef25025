#pragma once
#include <nacelle/device/loop/rows.h>
#if NACELLE_GPU
#include <nacelle/device/loop/warp_rows.h>
#endif
// Included by rollout.h: teams. All threads of a team run this code together; a CPU has one for each team.

namespace nacelle::detail {

// Every member's action. On a GPU members that move go by place, since neighbours write to the same lines,
// though each then draws random numbers for others, too.
template <class E, class G, class Policy>
NACELLE_INLINE void choose_group(const View<E>& view, uint64_t tick, int t, LocalTeam<E>& local,
                                 const float* seen, Policy& policy) {
    using Form = RandomBlocks<E, G>;
    auto& members = local.memory.template group<G>();
    const auto choose = [&](int block, int place) {
        TeamRows<E, G> rows{view, tick, t, local, seen, block, place};
        policy.choose(rows);
    };
#if NACELLE_GPU
    if constexpr (moves<E, G>)
        local.threads.template spread_over<count_of<E, G>>([&](int place) {
            const int i = members.id[place];
            choose(i / Form::span * 32 + i % 32, place);
        });
    else local.threads.template spread_over<Form::blocks>([&](int block) { choose(block, -1); });
#else
    (void)members;
    for (int block = 0; block < Form::blocks; block += 32) choose(block, -1);
#endif
}

template <class E, class G>
NACELLE_INLINE void store_ended(const View<E>& view, size_t row, bool ended) {
    if constexpr (has_turn<E, G>)
        group_column<E, uint8_t, Role::ended, group_index<E, G>()>(view)[row] = ended;
}
// Where a launch is one step, a member in global memory is read once as a whole, both for the step's results
// and for what the launch stores.
template <class E, class G, class Steps>
inline constexpr bool leaves_at_once =
    same<Steps, Index<1>>&& Shape<E>::workspace > 0 && goes_as_one<E, G>;
template <class M, bool copied> struct SeenAs { using type = M&; };
template <class M> struct SeenAs<M, true> { using type = M; };

// The results of a step for each member. The last step of a launch stores them in the arrays; with `leaving`
// also the member and its return.
template <class E, class G, bool leaving, class Record>
NACELLE_INLINE void finish_group(const View<E>& view, uint64_t tick, int t, bool last,
                                 LocalTeam<E>& local, bool terminated, bool truncated,
                                 Record& record) {
    constexpr int group = group_index<E, G>();
    auto& members = local.memory.template group<G>();
    local.threads.template spread_over<count_of<E, G>>([&](int i) {
        const size_t row = row_of<E, G>(local.env, i);
        typename SeenAs<Member<E, G>, leaving>::type me = member_of(members, i);
        if (leaving) store_member<E, G>(view, local, i, me);
        if (!finite(me.reward))
            note_bad(view.head, Bad::reward, tick, row_in_all<E, G>(local.env, i), me.action);
        if (me.reward != 0.0f)
            members.running[i] += me.reward;    // most of a large team's are not touched
        if (leaving) store_return<E, G>(view, local, i);
        const bool went_out =
            has_turn<E, G> && turn_at(members, i) == uint8_t(Turn::out);    // and not before
        if (last) store_ended<E, G>(view, row, went_out || terminated || truncated);
        record(Now{local.env, row, t, tick, nullptr}, me,
               Outcome{me.reward, terminated || went_out, truncated && !went_out});
        if (last) {
            store_streaming(group_column<E, float, Role::reward, group>(view)[row], me.reward);
            visit_row<E>(view.array, group_slot<E>(Role::action, group), row, rows_of<E, G>(view),
                         me.action,
                         [](auto& stored, auto& value) { store_streaming(stored, value); });
        }
    });
}

// Where the observations of step t are: in the record if it has rows for them, else in `obs`.
template <class E, int I, class Record>
NACELLE_INLINE float* rows_at(const View<E>& view, int t, Record& record) {
    if constexpr (requires { record.rows(0, 0); })
        if (float* const rows = record.rows(I, t)) return rows;
    (void)t, (void)record;
    return group_column<E, float, Role::obs, I>(view);
}
// The observations of the first step lie in `obs`; the record gets a copy.
template <class E, class Record>
NACELLE_INLINE void copy_first_rows(const View<E>& view, LocalTeam<E>& local, Record& record) {
    if constexpr (packs<Record>) {
        if (record.goes_on()) return;
        for_each_group<E>([&]<class G, int I>() {
            const auto packed = record.template packed<I>(0);
            constexpr int width = decltype(packed)::width, words = decltype(packed)::words;
            const float* const from = group_column<E, float, Role::obs, I>(view);
            local.threads.template spread_over<count_of<E, G> * words, Weight::light>([&](int i) {
                const size_t row = row_of<E, G>(local.env, i / words);
                pack_word(packed, row, i % words, from + row * size_t(width));
            });
        });
    }
    if constexpr (requires { record.rows(0, 0); }) {
        if (record.goes_on()) return;
        for_each_group<E>([&]<class G, int I>() {
            constexpr int numbers = count_of<E, G> * numbers_in<ObsOf<E, G>>;
            const size_t first = local.env * size_t(numbers);
            const float* const from = group_column<E, float, Role::obs, I>(view) + first;
            float* const to = record.rows(I, 0) + first;
            local.threads.template spread_over<numbers, Weight::light>(
                [&](int i) { store_streaming(to[i], from[i]); });
        });
    }
}

// Every group's choices, and the barriers around them. A policy that works by whole warps may have several teams in one.
template <class E, class Policy> NACELLE_INLINE void sync_choices() {
#if NACELLE_GPU
    if constexpr (chooses_by_warp<Policy> && Shape<E>::lanes < 32) return __syncwarp();
#endif
    TeamThreads<E>::sync();
}
template <class E, class Policy, class Record>
NACELLE_INLINE void choose_team(const View<E>& view, uint64_t tick, int t, LocalTeam<E>& local,
                                Policy& policy, Record& record) {
    for_each_group<E>([&]<class G, int I>() {
        const float* const seen = rows_at<E, I>(view, t, record);
#if NACELLE_GPU
        if constexpr (chooses_by_warp<Policy>) {
            WarpRows<E, G> rows{view, tick, t, local, seen};
            return policy.choose(rows);
        }
#endif
        if constexpr (!chooses_by_warp<Policy>)
            choose_group<E, G>(view, tick, t, local, seen, policy);
    });
    sync_choices<E, Policy>();
}

// All that a team sees. Where an episode ends this is called twice, from one place, so that it is compiled once.
template <class E, class Record>
NACELLE_INLINE void look_team(const View<E>& view, uint64_t tick, int next, LocalTeam<E>& local,
                              const Team<E>& team, bool final, Record& record) {
    for_each_group<E>([&]<class G, int I>() {
        float* const to = final ? group_column<E, float, Role::final_obs, I>(view)
                                : rows_at<E, I>(view, next, record);
        look_group<E, G>(view, tick, team, local, final, to, packed_at<I>(record, next, final));
    });
    overview_team<E>(view, team, local, final, record, next - 1);
    if (final) return;
    for_each_group<E>([&]<class G, int>() { mask_group<E, G>(view, team, local); });
}

template <class E, class Steps, class Policy, class Record>
NACELLE_INLINE void play(const View<E>& view, size_t env, uint32_t ahead, Steps steps,
                         Policy& policy, Record& record) {
    const Time now = time_of(view.head, ahead);
    if (now.stopped) return;
    uint64_t tick = now.tick;    // no structured binding: clang 14 lets no lambda capture one
    LocalTeam<E> local(view, env);
    // A policy by warps is asked once more behind the last step, and by threads that have no team.
    constexpr bool by_warps = chooses_by_warp<Policy>;
    const bool mine = !by_warps || env < view.head.envs;
    if (mine) {
        load_local<E>(view, tick, local);
        copy_first_rows<E>(view, local, record);
    }
    bool terminated = false, truncated = false;
    NACELLE_ROLLED for (int t = 0; t < steps + int(by_warps); ++t, ++tick) {
        sync_choices<E, Policy>();
        choose_team<E>(view, tick, t, local, policy, record);
        if (by_warps && (!mine || t == steps)) continue;
        ++local.length;
        local.episode.step = local.start + local.length;
        local.episode.progress = progress_at(view.head, tick);
        const Source source = local.source(view, tick, Domain::step);
        Team<E> team(local.memory, local.threads, local.episode, source);
        const Ending ending = E::step(team, local.params(view));
        local.threads.sync();
        const Ended ended = ended_by<E>(ending == Ending::terminated, ending == Ending::truncated,
                                        local.episode.step);
        terminated = ended.terminated;
        truncated = ended.truncated;
        const bool over = terminated || truncated;
        ask_turns<E>(view, team, local, false);
        for_each_group<E>([&]<class G, int>() {
            // A member that was stored here and begins another episode is stored again at the end.
            finish_group<E, G, leaves_at_once<E, G, Steps>>(view, tick, t, t + 1 == steps, local,
                                                            terminated, truncated, record);
        });
        NACELLE_ROLLED for (int pass = over ? 0 : 1; pass < 2; ++pass) {
            const bool final = pass == 0;
            look_team<E>(view, tick, t + 1, local, team, final, record);
            if (final) {
                close_episode<E>(view, team, local);
                if constexpr (requires { record.over(local); }) record.over(local);
                open_episode<E>(view, tick, local, false);
            }
        }
    }
    if (!mine) return;
    // No barrier: nothing that another thread still reads is written from here on.
    const bool over = terminated || truncated;
    for_each_group<E>([&]<class G, int>() {
        constexpr bool left = leaves_at_once<E, G, Steps>;
        if (!left || over) store_group<E, G>(view, local);
        if (!left && !over) store_returns<E, G>(view, local);
    });
    store_team_state<E>(view, local);
    if (!over) store_length<E>(view, local);
    if (local.is_first()) {
        column<E, uint8_t, Role::terminated>(view)[env] = terminated;
        column<E, uint8_t, Role::truncated>(view)[env] = truncated;
    }
}

template <class E, class Steps, class Policy, class Record>
NACELLE_INLINE void rollout_teams(const View<E>& view, Items items, uint32_t ahead, Steps steps,
                                  Policy& policy, Record& record) {
    // Threads without a team come along, too: a policy may share its work among all of a block that has several teams.
    constexpr bool all_come = chooses_by_warp<Policy> && Shape<E>::lanes <= 32;
    const uint64_t end = all_come ? items.end : min(items.end, uint64_t(view.head.envs));
    for (uint64_t env = items.begin; env < end; ++env)
        play<E>(view, size_t(env), ahead, steps, policy, record);
}

}
