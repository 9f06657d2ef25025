#pragma once
#include <nacelle/device/team/kept_places.h>
// Loads a team from its arrays: members, their bins, state and clock.

namespace nacelle::detail {

template <class E, class G>
NACELLE_INLINE void load_bin(const View<E>& view, GroupMemory<E, G>& members, int i, size_t row) {
    if constexpr (has_bins<E, G> && !moves<E, G>) members.bin[i] = bin_column<E, G>(view)[row];
}
// The array may be from another version of the environment, which had more bins.
template <class E, class G> NACELLE_INLINE int known_bin(int bin) {
    return bin < bins_in<E, G> ? bin : -1;
}
// The bins as the last sort left them. Members that move are placed in the order of bins, so theirs are
// restored before they are loaded; all others' after.
template <class E, class G>
NACELLE_INLINE void restore_places(const View<E>& view, LocalTeam<E>& local, int& turn) {
    if constexpr (moves<E, G>)
        place_by_bins<E, G>(local.memory, local.threads, turn, [&](int i) {
            return known_bin<E, G>(bin_column<E, G>(view)[row_of<E, G>(local.env, i)]);
        });
}
template <class E, class G> NACELLE_INLINE void restore_bins(LocalTeam<E>& local, int& turn) {
    if constexpr (has_bins<E, G> && !moves<E, G>) {
        local.threads.sync();
        auto& members = local.memory.template group<G>();
        fill_bins<E, G>(local.memory, local.threads, turn,
                        [&](int i) { return known_bin<E, G>(members.bin[i]); });
    }
}
template <class E, class G>
NACELLE_INLINE void load_group(const View<E>& view, LocalTeam<E>& local, bool over) {
    constexpr int group = group_index<E, G>();
    auto& members = local.memory.template group<G>();
    local.threads.template spread_over<count_of<E, G>>([&](int i) {
        const size_t row = row_of<E, G>(local.env, i);
        Member<E, G>& member = member_of(members, i);
        load_row<E>(view.array, group_slot<E>(Role::agent, group), row, rows_of<E, G>(view),
                    fields_of<E, G>(member));
        member.id = int16_t(i);
        member.acts = true;
        set_turn(members, i, turn_before<E, G>(view, row));
        load_bin<E, G>(view, members, i, row);
        const float running = group_column<E, float, Role::episode, group>(view)[row];
        members.running[i] = over ? 0.0f : running;
    });
}
// The fields, turns and returns of all members from their arrays, and their bins. After a step that ended
// an episode returns begin anew, though the arrays still show the old ones. `keep`: by keep_places.
template <class E>
NACELLE_INLINE void load_members(const View<E>& view, LocalTeam<E>& local, bool over, bool keep) {
    int turn = 0;
    if (!keep) for_each_group<E>([&]<class G, int>() { restore_places<E, G>(view, local, turn); });
    if constexpr (any_moves<E>()) local.threads.sync();
    for_each_group<E>([&]<class G, int>() {
        if constexpr (keeps_places<E, G> && goes_as_one<E, G>)
            arrive<E, G>(view, local, over, keep);
        else load_group<E, G>(view, local, over);
    });
    for_each_group<E>([&]<class G, int>() { restore_bins<E, G>(local, turn); });
}
template <class E> NACELLE_INLINE void load_team_state(const View<E>& view, LocalTeam<E>& local) {
    if (local.is_first())
        load_row<E>(view.array, slot_of<E>(Role::state), local.env, view.head.envs,
                    local.memory.state);
}
// The episode, the same for all threads.
template <class E>
NACELLE_INLINE void load_episode(const View<E>& view, uint64_t tick, LocalTeam<E>& local) {
    local.start = start_of<E>(view, local.env);
    local.episode = {view.head.first_env + uint32_t(local.env), number_at<E>(view, local.env),
                     level_at<E>(view, local.env), local.start + local.length,
                     progress_at(view.head, tick)};
}
template <class E>
NACELLE_INLINE uint32_t number_before(const View<E>&, const LocalTeam<E>& local) {
    return local.episode.number;
}
template <class E>
NACELLE_INLINE void load_local(const View<E>& view, uint64_t tick, LocalTeam<E>& local) {
    const bool over = ended_before<E>(view, local.env);
    const int length = length_at<E>(view, local.env);
    local.length = over ? 0 : length;
    load_params<E>(view, local);
    load_members<E>(view, local, over, keep_places<E>(view, local));
    load_team_state<E>(view, local);
    load_episode<E>(view, tick, local);
}

}
