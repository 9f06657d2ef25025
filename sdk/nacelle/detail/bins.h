#pragma once
#include <nacelle/detail/gang.h>
// Sorting members into bins by counting, the ids in a bin ascending: whatever order the threads came in.

namespace nacelle::detail {

// Adds one and gives what was there before.
NACELLE_INLINE int count_up(int& n) {
#if NACELLE_GPU
    return atomicAdd(&n, 1);
#else
    return n++;
#endif
}

#if NACELLE_GPU
// The sum of the values of the lanes before this one in its warp, or in the part of it that is the team.
template <class E> NACELLE_INLINE int sum_before(int value) {
    constexpr int width = Shape<E>::unit;
    const int lane = int(threadIdx.x) % width;
    int sum = value;
    NACELLE_UNROLL for (int other = 1; other < width; other *= 2) {
        const int below = __shfl_up_sync(Gang<E>::unit_mask(), sum, unsigned(other), width);
        if (lane >= other) sum += below;
    }
    return sum - value;
}
#endif

// counts[i] becomes the sum of all up to and with i, for n of them.
template <int n, class E>
NACELLE_INLINE void running_sums(TeamMemory<E>& memory, const Gang<E>& gang, int& turn,
                                 int* counts) {
#if NACELLE_GPU
    constexpr int lanes = Gang<E>::lanes, share = (n + lanes - 1) / lanes;
    const int begin = min(gang.lane * share, n), end = min(begin + share, n);
    int own = 0;
    NACELLE_ROLLED for (int i = begin; i < end; ++i) own += counts[i];
    int before = sum_before<E>(own);
    if constexpr (lanes > 32) {
        uint64_t* const place = memory.partial[turn];
        turn ^= 1;
        const int warp = gang.lane / 32;
        if (gang.lane % 32 == 31) place[warp] = uint64_t(uint32_t(before + own));
        gang.sync();
        int earlier = 0;    // of the warps before this one, gathered by all of its lanes
        NACELLE_ROLLED for (int w = gang.lane % 32; w < warp; w += 32) earlier +=
            int(uint32_t(place[w]));
        NACELLE_UNROLL for (int other = 1; other < 32; other *= 2) earlier +=
            __shfl_xor_sync(~0u, earlier, other);
        before += earlier;
    }
    NACELLE_ROLLED for (int i = begin; i < end; ++i) counts[i] = before += counts[i];
#else
    (void)memory, (void)gang, (void)turn;
    for (int i = 1; i < n; ++i) counts[i] += counts[i - 1];
#endif
}

// Every member to its place in the order of the bins, word by word: neighbouring threads move
// neighbouring words.
template <class E, class G>
NACELLE_INLINE void move_members(TeamMemory<E>& memory, const Gang<E>& gang) {
    auto& squad = memory.template squad<G>();
    constexpr int words = int(sizeof squad.member[0]) / 4, all = words * count_of<E, G>;
    auto* const place = reinterpret_cast<uint32_t*>(squad.member);
    gang.template spread_over<all, Weight::light>([&](int w) { squad.held[w] = place[w]; });
    gang.sync();
    gang.template spread_over<all, Weight::light>(
        [&](int w) { place[w] = squad.held[squad.at[w / words] * words + w % words]; });
    gang.sync();
    gang.template spread_over<count_of<E, G>>(
        [&](int k) { squad.at[k] = squad.slot[squad.member[k].id] = int16_t(k); });
    if (gang.lane == 0) squad.sorts = 0;
}
template <class E, class G>
NACELLE_INLINE void move_sometimes(TeamMemory<E>& memory, const Gang<E>& gang, bool now) {
    if constexpr (moves<E, G>) {
        auto& squad = memory.template squad<G>();
        gang.sync();
        const int sorts = now ? sorts_between_moves : squad.sorts + 1;
        gang.sync();
        if (sorts >= sorts_between_moves) move_members<E, G>(memory, gang);
        else if (gang.lane == 0) squad.sorts = sorts;
    }
}
template <class E, class G> NACELLE_INLINE int place_of(const Squad<E, G>& squad, int id) {
    if constexpr (moves<E, G>) return squad.slot[id];
    else return id;
}
// The table from what `bin` says of each member; those with -1 are in none.
template <class E, class G>
NACELLE_INLINE void fill_bins(TeamMemory<E>& memory, const Gang<E>& gang, int& turn, bool fresh) {
    constexpr int count = count_of<E, G>, bins = bins_in<E, G>;
    auto& table = memory.template squad<G>();
    gang.template spread_over<bins + 2, Weight::light>([&](int i) { table.start[i] = 0; });
    gang.sync();
    // Counted two places further on: the sums then give where each bin begins one place further on, and
    // handing out places moves every beginning to the end of its bin, where the next one begins.
    gang.template spread_over<count>([&](int i) {
        if (table.bin[i] >= 0) count_up(table.start[table.bin[i] + 2]);
    });
    gang.sync();
    running_sums<bins, E>(memory, gang, turn, table.start + 2);
    gang.sync();
    gang.template spread_over<count>([&](int i) {
        if (table.bin[i] >= 0)
            table.unordered[count_up(table.start[table.bin[i] + 1])] = int16_t(i);
    });
    gang.sync();
    gang.template spread_over<count>([&](int k) {    // its place among those of its bin
        const int i = table.start[bins] == count ? table.unordered[k] : k, b = table.bin[i];
        if (b < 0) return;
        const int end = table.start[b + 1];
        int place = table.start[b];
        NACELLE_ROLLED for (int other = place; other < end; ++other) place +=
            table.unordered[other] < i;
        table.at[place] = int16_t(place_of(table, i));
    });
    if (gang.lane == 0) table.sorted = table.start[bins] == count;
    if (table.start[bins] == count) move_sometimes<E, G>(memory, gang, fresh);
}
template <class E, class G, class Fn>
NACELLE_INLINE void sort_bins(TeamMemory<E>& memory, const Gang<E>& gang, int& turn, Fn&& bin_of) {
    static_assert(bins_in<E, G> <= 32767, "a group has at most 32767 bins");
    static_assert(bins_in<E, G> > 0,
                  "a group that is sorted needs 'static constexpr int bins = ...'");
    auto& squad = memory.template squad<G>();
    gang.template spread_over<count_of<E, G>>([&](int k) {
        const Member<E, G>& member = squad.member[k];
        const int b = bin_of(member);
        check_index("the bins of a sorted group", b, bins_in<E, G>);
        squad.bin[moves<E, G> ? int(member.id) : k] = int16_t(b);
    });
    fill_bins<E, G>(memory, gang, turn, false);    // its first barrier comes before bins are read
}
// As an episode begins: nobody is in any bin.
template <class E, class G>
NACELLE_INLINE void empty_bins(TeamMemory<E>& memory, const Gang<E>& gang) {
    if constexpr (bins_in < E, G >> 0) {
        auto& squad = memory.template squad<G>();
        gang.template spread_over<bins_in<E, G> + 2>([&](int i) { squad.start[i] = 0; });
        gang.template spread_over<count_of<E, G>>([&](int i) { squad.bin[i] = -1; });
        if (gang.lane == 0) squad.sorted = false;
    }
}

}
