#pragma once
#include <nacelle/device/reflect/leaves.h>
#include <nacelle/device/team/groups.h>
#include <nacelle/neighbours.h>
// The memory of a team while it steps: members and state, in shared memory where they fit. Between launches
// they lie in the environment's arrays.

namespace nacelle::detail {

// A team's threads take an answer's parts 32 at a time.
inline constexpr int strip = 32;
constexpr int strips_of(int n) { return (n + strip - 1) / strip; }

template <class E, class G> inline constexpr int bins_in = GroupParts<E, G>::bins;
template <class E, class G> inline constexpr bool has_bins = GroupParts<E, G>::bins != 0;
// Members of teams that step in global memory are ordered by their bins, now or a few sorts ago, so that an
// agent's neighbours lie in the same cache lines. A checked build moves them at every sort, which shows a
// reference that an author kept over one.
template <class E, class G>
inline constexpr bool moves = bins_in<E, G> > 0 &&
#if defined(NACELLE_CHECKED) || defined(NACELLE_MOVES)
                              true;
#else
                              NACELLE_GPU&& agents_in_all<E>() >= 4096;
#endif

template <class E> constexpr bool any_moves() {
    bool any = false;
    for_each_group<E>([&]<class G, int>() { any = any || moves<E, G>; });
    return any;
}

// Members sorted by bin: those of bin b are at[start[b]] to at[start[b + 1] - 1], by id; `at` says where
// they lie, and `bin` the bin of who lies there. Before the first sort of an episode all bins are empty,
// and what `bin` says of each is -1.
template <class E, class G, int Bins> struct BinTable {
    int start[Bins + 1];
    int16_t at[count_of<E, G>], bin[count_of<E, G>], unordered[count_of<E, G>];
    bool sorted;
};
template <class E, class G> struct BinTable<E, G, 0> {};

// The counters of a sort in shared memory.
template <class E, class G> struct SortRoom {
    uint64_t partial[33];
    int start[bins_in<E, G> + 1];
    int16_t before[count_of<E, G>], unordered[count_of<E, G>];
};

template <class E, class G, bool any> struct MoveTable {
    int16_t slot[count_of<E, G>];    // where the member with this id lies
    int16_t id[count_of<E, G>];      // of who lies there
    int sorts;                       // since they moved
    uint32_t held[count_of<E, G> * sizeof(Member<E, G>) / 4];    // all members, while they move
};
template <class E, class G> struct MoveTable<E, G, false> {};
#if defined(NACELLE_CHECKED) || defined(NACELLE_MOVES)
inline constexpr int sorts_between_moves = 1;
#else
inline constexpr int sorts_between_moves = 6;
#endif

// Turn, and whether it was out before this step: of groups that have turns.
template <class E, class G, bool any> struct TurnTable { uint8_t turn[count_of<E, G>]; };
template <class E, class G> struct TurnTable<E, G, false> {};

// On a GPU neighbouring threads read neighbouring members: a stride of 4, 8, ... words would send them
// to the same banks of shared memory, one after the other.
template <class M> struct Padded : M { uint32_t pad; };
template <class M, bool pad> struct SlotFor { using type = M; };
template <class M> struct SlotFor<M, true> { using type = Padded<M>; };

template <class E, class G>
struct GroupMemory : BinTable<E, G, bins_in<E, G>>,
                     TurnTable<E, G, has_turn<E, G>>,
                     MoveTable<E, G, moves<E, G>> {
    using M = Member<E, G>;
    static constexpr int count = count_of<E, G>;
    typename SlotFor<M, NACELLE_GPU && sizeof(M) % 16 == 0 && !moves<E, G>>::type member[count];
    float running[count];    // each one's return so far
};
template <class E, class G> NACELLE_INLINE int place_of(const GroupMemory<E, G>& members, int id) {
    if constexpr (moves<E, G>) return members.slot[id];
    else return id;
}
// The member with this id.
template <class E, class G>
NACELLE_INLINE Member<E, G>& member_of(GroupMemory<E, G>& members, int id) {
    return members.member[place_of(members, id)];
}
template <class E, class G>
NACELLE_INLINE const Member<E, G>& member_of(const GroupMemory<E, G>& members, int id) {
    return members.member[place_of(members, id)];
}
// The same for a member that bin() gave: at its place, if it has not moved since.
template <class E, class G>
NACELLE_INLINE const Member<E, G>& member_of(const GroupMemory<E, G>& members, Spot spot) {
    if constexpr (moves<E, G>) {
        const int id = spot, place = Places::place(spot);
        if (place < count_of<E, G> && members.member[place].id == id) return members.member[place];
    }
    return member_of(members, int(spot));
}
inline constexpr uint8_t was_out = 4;
template <class E, class G>
NACELLE_INLINE uint8_t turn_at(const GroupMemory<E, G>& members, int i) {
    if constexpr (has_turn<E, G>) return members.turn[i];
    else return uint8_t(Turn::acts);
}
template <class E, class G>
NACELLE_INLINE void set_turn(GroupMemory<E, G>& members, int i, int turn) {
    if constexpr (has_turn<E, G>) members.turn[i] = uint8_t(turn);
}
// The id of the k-th member to visit: in the order of bins, so that neighbouring threads read the same
// neighbours. The order in which a phase visits members changes no result.
template <class E, class G> NACELLE_INLINE int visited_at(const GroupMemory<E, G>& members, int k) {
    if constexpr (moves<E, G>) return members.member[k].id;
#if NACELLE_GPU
    else if constexpr (bins_in<E, G> > 0) return members.sorted ? members.at[k] : k;
#endif
    else {
        (void)members;
        return k;
    }
}
template <class E, class G>
NACELLE_INLINE Member<E, G>& visited_member(GroupMemory<E, G>& members, int k) {
    if constexpr (moves<E, G>) return members.member[k];
    else return members.member[visited_at(members, k)];
}

template <class E, class L> struct GroupMemories;
template <class E, class... G> struct GroupMemories<E, Groups<G...>> : GroupMemory<E, G>... {};

template <class E> struct TeamMemory : GroupMemories<E, GroupsOf<E>> {
    StateOf<E> state;
    static constexpr int most_warps = most_agents<E>() > 2048 || threads_of<E>() > 1024 ? 64 : 33;
    // Partial results of a reduction, one for each strip or warp, double-buffered: one barrier is enough.
    static constexpr int strips = strips_of(most_agents<E>()), parts = strips + strips_of(strips);
    uint64_t partial[2][parts < most_warps ? most_warps : parts];

    template <class G> GroupMemory<E, G>& group() { return *this; }
    template <class G> const GroupMemory<E, G>& group() const { return *this; }
};

}
