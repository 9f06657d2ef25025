#pragma once
#include <nacelle/device/team/bins.h>
#include <nacelle/device/team/team_lane.h>
// Members of a team in global memory still lie where the launch before left them. The next one looks whether
// all of that is whole and says what the arrays say, and takes it: to sort and to scatter them anew takes as
// long as half a step. Of members that have turns, an Array, or more than 64 bytes it takes the places alone.

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
NACELLE_INLINE bool places_hold(const View<E>& view, const TeamLane<E>& lane) {
    constexpr int count = count_of<E, G>, bins = bins_in<E, G>;
    const auto& squad = lane.memory.template squad<G>();
    const int16_t* const stored = bin_column<E, G>(view) + row_of<E, G>(lane.env, 0);
    bool hold = squad.start[0] == 0 && squad.start[bins] == count;
    lane.gang.template spread_over<bins, Weight::light>(
        [&](int b) { hold &= squad.start[b] <= squad.start[b + 1]; });
    // Who lies where, and that all act: whose turn it was in the launch before is nothing to this one.
    lane.gang.template spread_over<count>([&](int k) {
        const Member<E, G>& member = squad.member[k];
        hold &= (member.id == squad.id[k]) & (has_turn<E, G> || same_bits(member.acts, true));
    });
    // Starts that ascend from 0 to all cut the places into bins; each has to hold members of its own, by
    // id. No read waits for an answer, which && would: whatever is found, it is made an index.
    const auto index = [](int found, int end) { return clamp(found, 0, end - 1); };
    lane.gang.template spread_over<count>([&](int n) {
        const int slot = squad.slot[n], place = index(slot, count);
        hold &= (slot == place) & (squad.id[place] == n) & (squad.bin[place] == stored[n]);
        const int at = squad.at[n], k = index(at, count),
                  before = index(squad.at[max(n - 1, 0)], count);
        const int bin = squad.bin[k], b = index(bin, bins), first = squad.start[b];
        hold &= (at == k) & (bin == b) & (first <= n) & (n < squad.start[b + 1]) &
                ((first == n) | (squad.id[before] < squad.id[k]));
    });
    return hold;
}
// The same of all members and for all threads.
template <class E> NACELLE_INLINE bool keep_places(const View<E>& view, TeamLane<E>& lane) {
    if constexpr (any_moves<E>() && Shape<E>::workspace > 0) {
        bool hold = true;
        int turn = 0;
        for_each_group<E>([&]<class G, int>() {
            if constexpr (keeps_places<E, G>) hold &= places_hold<E, G>(view, lane);
        });
        hold = lane.gang.template combine<Gang<E>::lanes>(
            lane.memory, turn, 1, [&](int) { return int(hold); },
            [](int a, int b) { return a & b; });
        if (hold && lane.gang.lane == 0)
            for_each_group<E>([&]<class G, int>() {
                if constexpr (keeps_places<E, G>) {
                    auto& squad = lane.memory.template squad<G>();
                    squad.sorted = true;
                    squad.sorts =
                        clamp(squad.sorts, 0, sorts_between_moves);    // may be any number
                }
            });
        return hold;
    } else return false;
}

// What the arrays say of a member, and whether anything else lies at its place.
template <class E, class G> struct Arriving {
    typename GroupParts<E, G>::Fields fields;
    float running;
    int16_t place;
    uint8_t turn;
    bool differs;
};
template <class E, class G>
NACELLE_INLINE Arriving<E, G> arriving(const View<E>& view, TeamLane<E>& lane, int i, int place,
                                       bool keep) {
    constexpr int group = group_index<E, G>();
    const size_t row = row_of<E, G>(lane.env, i);
    Member<E, G>& there = lane.memory.template squad<G>().member[place];
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
// The members of a group to their places. Few have to be written: where nothing was changed from outside,
// the arrays say what lies there.
template <class E, class G>
NACELLE_INLINE void arrive(const View<E>& view, TeamLane<E>& lane, bool over, bool keep) {
    keep = keep && !has_turn<E, G>;    // they may not act, as the launch before left them
    constexpr int together = clamp(64 / int(sizeof(Arriving<E, G>)), 1, 4);
    auto& squad = lane.memory.template squad<G>();
    lane.gang.template spread_in_stages<count_of<E, G>, together>(
        [&](int i) { return int(squad.slot[i]); },
        [&](int i, int place) { return arriving<E, G>(view, lane, i, place, keep); },
        [&](int i, const Arriving<E, G>& one) {
            set_turn(squad, i, one.turn);
            squad.running[i] = over ? 0.0f : one.running;
            if (!one.differs) return;
            Member<E, G>& member = squad.member[one.place];
            fields_of<E, G>(member) = one.fields;
            member.id = int16_t(i);
            member.acts = true;
        });
}

}
