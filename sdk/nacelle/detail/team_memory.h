#pragma once
#include <nacelle/detail/groups.h>
#include <nacelle/detail/leaves.h>
// What one team is while it steps: its members and its state side by side, in shared memory where they
// fit. Between launches they lie in the environment's arrays.

namespace nacelle::detail {

// A team's threads take an answer's parts 32 at a time.
inline constexpr int strip = 32;
constexpr int strips_of(int n) { return (n + strip - 1) / strip; }

// Members sorted by bin: those of bin b are id[start[b]] to id[start[b + 1] - 1], ascending.
template <class E, class G, int Bins> struct BinTable {
    int start[Bins + 2], id[count_of<E, G>], unordered[count_of<E, G>];
};
template <class E, class G> struct BinTable<E, G, 0> {};

// On a GPU neighbouring threads read neighbouring members: a stride of 4, 8, ... words would send them
// to the same banks of shared memory, one after the other.
template <class M> struct Padded : M { uint32_t pad; };
template <class M, bool pad> struct SlotFor { using type = M; };
template <class M> struct SlotFor<M, true> { using type = Padded<M>; };

template <class E, class G> struct Squad : BinTable<E, G, GroupParts<E, G>::bins> {
    using M = Member<E, G>;
    static constexpr int count = count_of<E, G>;
    typename SlotFor<M, NACELLE_GPU && sizeof(M) % 16 == 0>::type member[count];
    float running[count];    // each one's return so far
    uint8_t turn[count];     // Turn, and whether it was out before this step
};
inline constexpr uint8_t was_out = 4;

template <class E, class L> struct Squads;
template <class E, class... G> struct Squads<E, Groups<G...>> : Squad<E, G>... {};

template <class E> struct TeamMemory : Squads<E, GroupsOf<E>> {
    StateOf<E> state;
    // Parts of an answer, one for each strip or each warp, in two places by turns: one barrier is enough.
    static constexpr int strips = strips_of(most_agents<E>()), parts = strips + strips_of(strips);
    uint64_t partial[2][parts < 64 ? 64 : parts];

    template <class G> Squad<E, G>& squad() { return *this; }
    template <class G> const Squad<E, G>& squad() const { return *this; }
};

}
