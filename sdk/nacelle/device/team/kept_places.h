#pragma once
#include <nacelle/device/team/bins.h>
#include <nacelle/device/team/local_team.h>
// Members of a team in global memory still lie where the last launch left them. A launch checks that this copy
// is whole and agrees with the arrays, and keeps it: sorting and scattering anew takes as long as half a step.
// Of members with turns, an Array, or more than 64 bytes it keeps the places only.

namespace nacelle::detail {

template <class E, class G>
inline constexpr bool keeps_places = moves<E, G>&& Shape<E>::workspace > 0;

// Whether a member can be held in registers as a whole.
template <class E, class G>
inline constexpr bool
    goes_as_one = sizeof(Member<E, G>) <= 64 && arrays_in<typename GroupParts<E, G>::Fields> == 0;

template <class T> NACELLE_INLINE bool same_bits(const T& a, const T& b) {
    // What lies there may be anything, which a bool may not.
    if constexpr (same<T, bool>)
        return reinterpret_cast<const uint8_t&>(a) == reinterpret_cast<const uint8_t&>(b);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(uint32_t, a) == __builtin_bit_cast(uint32_t, b);
    else if constexpr (sizeof(T) == 8)
        return __builtin_bit_cast(uint64_t, a) == __builtin_bit_cast(uint64_t, b);
    else return a == b;
}

// Whether this thread's share of the tables is as a sort leaves it, and every member's bin the one in its
// array. Nothing is taken for granted: memory may be new, or of another version of the environment.
template <class E, class G>
NACELLE_INLINE bool places_hold(const View<E>& view, const LocalTeam<E>& local) {
    constexpr int count = count_of<E, G>, bins = bins_in<E, G>;
    const auto& members = local.memory.template group<G>();
    const int16_t* const stored = bin_column<E, G>(view) + row_of<E, G>(local.env, 0);
    bool hold = members.start[0] == 0 && members.start[bins] == count;
    local.threads.template spread_over<bins, Weight::light>(
        [&](int b) { hold &= members.start[b] <= members.start[b + 1]; });
    // Every member is at the place that the table says, and acts: turns of the last launch do not count.
    local.threads.template spread_over<count>([&](int k) {
        const Member<E, G>& member = members.member[k];
        hold &= (member.id == members.id[k]) & (has_turn<E, G> || same_bits(member.acts, true));
    });
    // Ascending starts cut the places into bins; each bin must hold its own members, sorted by id. All reads
    // are issued without waiting for an answer, as && would: any value found is clamped to an index.
    const auto index = [](int found, int end) { return clamp(found, 0, end - 1); };
    local.threads.template spread_over<count>([&](int n) {
        const int slot = members.slot[n], place = index(slot, count);
        hold &= (slot == place) & (members.id[place] == n) & (members.bin[place] == stored[n]);
        const int at = members.at[n], k = index(at, count),
                  before = index(members.at[max(n - 1, 0)], count);
        const int bin = members.bin[k], b = index(bin, bins), first = members.start[b];
        hold &= (at == k) & (bin == b) & (first <= n) & (n < members.start[b + 1]) &
                ((first == n) | (members.id[before] < members.id[k]));
    });
    return hold;
}
// The same of all members and for all threads.
template <class E> NACELLE_INLINE bool keep_places(const View<E>& view, LocalTeam<E>& local) {
    if constexpr (any_moves<E>() && Shape<E>::workspace > 0) {
        bool hold = true;
        int turn = 0;
        for_each_group<E>([&]<class G, int>() {
            if constexpr (keeps_places<E, G>) hold &= places_hold<E, G>(view, local);
        });
        hold = local.threads.template combine<TeamThreads<E>::lanes>(
            local.memory, turn, 1, [&](int) { return int(hold); },
            [](int a, int b) { return a & b; });
        if (hold && local.threads.lane == 0)
            for_each_group<E>([&]<class G, int>() {
                if constexpr (keeps_places<E, G>) {
                    auto& members = local.memory.template group<G>();
                    members.sorted = true;
                    members.sorts =
                        clamp(members.sorts, 0, sorts_between_moves);    // may be any number
                }
            });
        return hold;
    } else return false;
}

// A member as the arrays have it, and whether the copy at its place differs.
template <class E, class G> struct Arriving {
    typename GroupParts<E, G>::Fields fields;
    float running;
    int16_t place;
    uint8_t turn;
    bool differs;
};
template <class E, class G>
NACELLE_INLINE Arriving<E, G> arriving(const View<E>& view, LocalTeam<E>& local, int i, int place,
                                       bool keep) {
    constexpr int group = group_index<E, G>();
    const size_t row = row_of<E, G>(local.env, i);
    Member<E, G>& there = local.memory.template group<G>().member[place];
    Arriving<E, G> one{.fields = fields_of<E, G>(there),
                       .running = group_column<E, float, Role::episode, group>(view)[row],
                       .place = int16_t(place),
                       .turn = uint8_t(turn_before<E, G>(view, row)),
                       .differs = !keep};
    visit_row<E>(view.array, group_slot<E>(Role::agent, group), row, rows_of<E, G>(view),
                 one.fields, [&](auto& stored, auto& value) {
                     const bare<decltype(value)> now = stored;
                     one.differs |= !same_bits(now, value);
                     value = now;
                 });
    return one;
}
// Puts the members of a group at their places. Few have to be written: the copy there differs only where the
// host changed an array.
template <class E, class G>
NACELLE_INLINE void arrive(const View<E>& view, LocalTeam<E>& local, bool over, bool keep) {
    keep = keep && !has_turn<E, G>;    // else `acts` may be left from the last launch
    constexpr int together = clamp(64 / int(sizeof(Arriving<E, G>)), 1, 4);
    auto& members = local.memory.template group<G>();
    local.threads.template spread_in_stages<count_of<E, G>, together>(
        [&](int i) { return int(members.slot[i]); },
        [&](int i, int place) { return arriving<E, G>(view, local, i, place, keep); },
        [&](int i, const Arriving<E, G>& one) {
            set_turn(members, i, one.turn);
            members.running[i] = over ? 0.0f : one.running;
            if (!one.differs) return;
            Member<E, G>& member = members.member[one.place];
            fields_of<E, G>(member) = one.fields;
            member.id = int16_t(i);
            member.acts = true;
        });
}

}
