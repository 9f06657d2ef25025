#pragma once
#include <nacelle/device/episode/local_env.h>
#include <nacelle/device/episode/statistics.h>
#include <nacelle/device/team/bins.h>
// A team while it steps, between the arrays and the memory where it steps. What LocalEnv is to
// one agent this is to a team: every thread of the team has one.

namespace nacelle::detail {

// Where the team of this environment steps, `further` teams behind this thread's own in the same block.
template <class E>
NACELLE_INLINE TeamMemory<E>& team_memory(const ViewHead& head, size_t env, int further = 0) {
#if NACELLE_GPU
    using Form = Shape<E>;
    if constexpr (Form::in_shared) {
        const int team = Form::lanes < Form::threads ? int(threadIdx.x) / Form::lanes + further : 0;
        return *reinterpret_cast<TeamMemory<E>*>(shared_memory<E>() + Form::stages +
                                                 team * Form::memory);
    } else
        return *reinterpret_cast<TeamMemory<E>*>(static_cast<unsigned char*>(head.workspace) +
                                                 env * size_t(Form::workspace));
#else
    (void)head, (void)env, (void)further;
    alignas(64) static thread_local unsigned char memory[sizeof(TeamMemory<E>)];
    return *reinterpret_cast<TeamMemory<E>*>(memory);
#endif
}
// The room where this warp, or this team if it is less, gathers rows before they leave together.
template <class E> NACELLE_INLINE float* stage_of() {
#if NACELLE_GPU
    return reinterpret_cast<float*>(shared_memory<E>()) +
           int(threadIdx.x) / Shape<E>::unit * Shape<E>::stage;
#else
    return nullptr;
#endif
}

template <class E> struct LocalTeam : LocalParams<E, any_varied<E>()> {
    TeamMemory<E>& memory;
    TeamThreads<E> threads;
    size_t env;
    Episode episode;
    int length = 0;    // steps of this episode
    int start = 0;     // the author's clock when it began

    NACELLE_INLINE LocalTeam(const View<E>& view, size_t which)
        : memory(team_memory<E>(view.head, which)), env(which) {}
    NACELLE_INLINE bool is_first() const { return threads.lane == 0; }
    static NACELLE_INLINE void sync() { TeamThreads<E>::sync(); }
    NACELLE_INLINE Source source(const View<E>& view, uint64_t tick, Domain domain) const {
        return {view.head.seed, tick, domain, view.head.first_env + uint32_t(env)};
    }
};

template <class E, bool team> struct LocalFor { using type = LocalEnv<E>; };
template <class E> struct LocalFor<E, true> { using type = LocalTeam<E>; };
template <class E> using LocalOf = typename LocalFor<E, is_team<E>>::type;

template <class E, class G> NACELLE_INLINE auto& fields_of(Member<E, G>& member) {
    return static_cast<typename GroupParts<E, G>::Fields&>(member);
}
// The row of agent i of this environment among those of its group, and how many there are.
template <class E, class G> NACELLE_INLINE size_t row_of(size_t env, int i) {
    return env * size_t(count_of<E, G>) + size_t(i);
}
template <class E, class G> NACELLE_INLINE size_t rows_of(const View<E>& view) {
    return size_t(view.head.envs) * size_t(count_of<E, G>);
}
template <class E, class T, Role role, int group>
NACELLE_INLINE T* group_column(const View<E>& view) {
    return array_at<T, group_slot<E>(role, group)>(view);
}

// A member that was out before a launch stays out, and its observation is zero.
template <class E, class G> NACELLE_INLINE int turn_before(const View<E>& view, size_t row) {
    if constexpr (has_turn<E, G>) {
        const int turn = group_column<E, uint8_t, Role::turn, group_index<E, G>()>(view)[row];
        return turn == int(Turn::out) ? turn | was_out : turn;
    } else return 0;
}
template <class E, class G>
NACELLE_INLINE void store_turn(const View<E>& view, size_t row, int turn) {
    if constexpr (has_turn<E, G>)
        group_column<E, uint8_t, Role::turn, group_index<E, G>()>(view)[row] = uint8_t(turn);
}
template <class E, class G> NACELLE_INLINE int16_t* bin_column(const View<E>& view) {
    return group_column<E, int16_t, Role::bin, group_index<E, G>()>(view);
}
template <class E, class G>
NACELLE_INLINE void store_bin(const View<E>& view, const GroupMemory<E, G>& members, int i,
                              size_t row) {
    if constexpr (has_bins<E, G>) bin_column<E, G>(view)[row] = members.bin[place_of(members, i)];
}

// What a launch stores of a member, of a group, and of a team. Other threads may still read it, so an Array,
// which lies in place, is not written again.
template <class E, class G>
NACELLE_INLINE void store_member(const View<E>& view, LocalTeam<E>& local, int i,
                                 Member<E, G>& member) {
    auto& members = local.memory.template group<G>();
    const size_t row = row_of<E, G>(local.env, i);
    store_row<E, true>(view.array, group_slot<E>(Role::agent, group_index<E, G>()), row,
                       rows_of<E, G>(view), fields_of<E, G>(member));
    store_turn<E, G>(view, row, turn_at(members, i) & 3);
    store_bin<E, G>(view, members, i, row);
}
template <class E, class G>
NACELLE_INLINE void store_group(const View<E>& view, LocalTeam<E>& local) {
    auto& members = local.memory.template group<G>();
    local.threads.template spread_over<count_of<E, G>>(
        [&](int i) { store_member<E, G>(view, local, i, member_of(members, i)); });
}
template <class E> NACELLE_INLINE void store_team_state(const View<E>& view, LocalTeam<E>& local) {
    if (local.is_first())
        store_row<E, true>(view.array, slot_of<E>(Role::state), local.env, view.head.envs,
                           local.memory.state);
}
template <class E> NACELLE_INLINE void store_team(const View<E>& view, LocalTeam<E>& local) {
    for_each_group<E>([&]<class G, int>() { store_group<E, G>(view, local); });
    store_team_state<E>(view, local);
}

// Returns and length of an episode that continues. Those of one that has just ended stay in the arrays until
// the next step.
template <class E, class G>
NACELLE_INLINE void store_return(const View<E>& view, const LocalTeam<E>& local, int i) {
    group_column<E, float, Role::episode, group_index<E, G>()>(view)[row_of<E, G>(local.env, i)] =
        local.memory.template group<G>().running[i];
}
template <class E, class G>
NACELLE_INLINE void store_returns(const View<E>& view, const LocalTeam<E>& local) {
    local.threads.template spread_over<count_of<E, G>>(
        [&](int i) { store_return<E, G>(view, local, i); });
}
template <class E>
NACELLE_INLINE void store_length(const View<E>& view, const LocalTeam<E>& local) {
    if (local.is_first()) length_at<E>(view, local.env) = local.length;
}
template <class E>
NACELLE_INLINE void store_team_counters(const View<E>& view, const LocalTeam<E>& local) {
    for_each_group<E>([&]<class G, int>() { store_returns<E, G>(view, local); });
    store_length<E>(view, local);
}

}
