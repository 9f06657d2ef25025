#pragma once
#include <nacelle/device/team/kept_places.h>
// A team as its arrays say it is: members, their bins, state and the clock, before a launch goes on with them.

namespace nacelle::detail {

template <class E, class G>
NACELLE_INLINE void load_bin(const View<E>& view, Squad<E, G>& squad, int i, size_t row) {
    if constexpr (bins_in < E, G >> 0 && !moves<E, G>) squad.bin[i] = bin_column<E, G>(view)[row];
}
// What an array says may be of another version of the environment, which had more bins.
template <class E, class G> NACELLE_INLINE int known_bin(int bin) {
    return bin < bins_in<E, G> ? bin : -1;
}
// The bins as the last sort left them. Members that move come to lie in their order, so for them it goes
// before they are loaded; for all others after.
template <class E, class G>
NACELLE_INLINE void restore_places(const View<E>& view, TeamLane<E>& lane, int& turn) {
    if constexpr (moves<E, G>)
        place_by_bins<E, G>(lane.memory, lane.gang, turn, [&](int i) {
            return known_bin<E, G>(bin_column<E, G>(view)[row_of<E, G>(lane.env, i)]);
        });
}
template <class E, class G> NACELLE_INLINE void restore_bins(TeamLane<E>& lane, int& turn) {
    if constexpr (bins_in < E, G >> 0 && !moves<E, G>) {
        lane.gang.sync();
        auto& squad = lane.memory.template squad<G>();
        fill_bins<E, G>(lane.memory, lane.gang, turn,
                        [&](int i) { return known_bin<E, G>(squad.bin[i]); });
    }
}
template <class E, class G>
NACELLE_INLINE void load_group(const View<E>& view, TeamLane<E>& lane, bool over) {
    constexpr int group = group_index<E, G>();
    auto& squad = lane.memory.template squad<G>();
    lane.gang.template spread_over<count_of<E, G>>([&](int i) {
        const size_t row = row_of<E, G>(lane.env, i);
        Member<E, G>& member = member_of(squad, i);
        load_row<E>(view.array, group_slot<E>(Role::agent, group), row, rows_of<E, G>(view),
                    fields_of<E, G>(member));
        member.id = int16_t(i);
        member.acts = true;
        set_turn(squad, i, turn_before<E, G>(view, row));
        load_bin<E, G>(view, squad, i, row);
        const float running = group_column<E, float, Role::episode, group>(view)[row];
        squad.running[i] = over ? 0.0f : running;
    });
}
// The fields, turns and returns of all members from their arrays, and their bins. After a step that ended
// an episode returns begin anew, though the arrays still show the old ones. `keep`: by keep_places.
template <class E>
NACELLE_INLINE void load_members(const View<E>& view, TeamLane<E>& lane, bool over, bool keep) {
    int turn = 0;
    if (!keep) for_each_group<E>([&]<class G, int>() { restore_places<E, G>(view, lane, turn); });
    if constexpr (any_moves<E>()) lane.gang.sync();
    for_each_group<E>([&]<class G, int>() {
        if constexpr (keeps_places<E, G> && goes_as_one<E, G>) arrive<E, G>(view, lane, over, keep);
        else load_group<E, G>(view, lane, over);
    });
    for_each_group<E>([&]<class G, int>() { restore_bins<E, G>(lane, turn); });
}
template <class E> NACELLE_INLINE void load_team_state(const View<E>& view, TeamLane<E>& lane) {
    if (lane.gang.lane == 0)
        load_row<E>(view.array, slot_of<E>(Role::state), lane.env, view.head.envs,
                    lane.memory.state);
}
// Where in its life the environment is; the same for all threads.
template <class E>
NACELLE_INLINE void load_episode(const View<E>& view, uint64_t tick, TeamLane<E>& lane) {
    lane.start = view.head.pool_size
                     ? NACELLE_COLUMN(view, int, Role::episode, "episode.start")[lane.env]
                     : 0;
    lane.episode = {view.head.first_env + uint32_t(lane.env),
                    NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[lane.env],
                    NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")[lane.env],
                    lane.start + lane.length, progress_at(view.head, tick)};
}
template <class E>
NACELLE_INLINE void load_team(const View<E>& view, uint64_t tick, TeamLane<E>& lane, bool over) {
    const int length = NACELLE_COLUMN(view, int, Role::episode, "episode.length")[lane.env];
    lane.length = over ? 0 : length;
    load_params<E>(view, lane.env, lane);
    load_members<E>(view, lane, over, keep_places<E>(view, lane));
    load_team_state<E>(view, lane);
    load_episode<E>(view, tick, lane);
}
template <class E> NACELLE_INLINE bool ended_before(const View<E>& view, size_t env) {
    return over_at(column<E, uint8_t, Role::terminated>(view)[env],
                   column<E, uint8_t, Role::truncated>(view)[env]);
}

}
