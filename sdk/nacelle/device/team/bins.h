#pragma once
#include <nacelle/device/team/team_threads.h>
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
        const int below = __shfl_up_sync(TeamThreads<E>::unit_mask(), sum, unsigned(other), width);
        if (lane >= other) sum += below;
    }
    return sum - value;
}
#endif

// counts[i] becomes the sum of all up to and with i, for n of them; `partial` has room for a number of each
// warp.
template <int n, class E>
NACELLE_INLINE void running_sums(const TeamThreads<E>& threads, uint64_t* partial, int* counts) {
#if NACELLE_GPU
    constexpr int lanes = TeamThreads<E>::lanes, share = (n + lanes - 1) / lanes;
    const int begin = min(threads.lane * share, n), end = min(begin + share, n);
    int own = 0;
    NACELLE_ROLLED for (int i = begin; i < end; ++i) own += counts[i];
    int before = sum_before<E>(own);
    if constexpr (lanes > 32) {
        const int warp = threads.lane / 32;
        if (threads.lane % 32 == 31) partial[warp] = uint64_t(uint32_t(before + own));
        threads.sync();
        int earlier = 0;    // of the warps before this one, gathered by all of its lanes
        NACELLE_ROLLED for (int w = threads.lane % 32; w < warp; w += 32) earlier +=
            int(uint32_t(partial[w]));
        NACELLE_UNROLL for (int other = 1; other < 32; other *= 2) earlier +=
            __shfl_xor_sync(~0u, earlier, other);
        before += earlier;
    }
    NACELLE_ROLLED for (int i = begin; i < end; ++i) counts[i] = before += counts[i];
#else
    (void)threads, (void)partial;
    for (int i = 1; i < n; ++i) counts[i] += counts[i - 1];
#endif
}

// What a sort counts in: where each bin begins, how many of its bin came before each member, and the
// members of a bin in the order in which they came.
struct Counts {
    int* start;
    int16_t *before, *unordered;
    uint64_t* partial;
};
// start[b] becomes the number of members in the bins before b, and `unordered` those of bin b from there
// on. All starts are zero before; bin_of(k) is the bin of the member at place k, -1 where it is in none.
template <class E, class G, class Fn>
NACELLE_INLINE void count_bins(const TeamThreads<E>& threads, const Counts& to, Fn&& bin_of,
                               const int16_t* bin) {
    constexpr int count = count_of<E, G>;
    // Counted one place further on: the sums then say where each bin begins.
    threads.template spread_over<count>([&](int k) {
        const int b = bin_of(k);
        if (b >= 0) to.before[k] = int16_t(count_up(to.start[b + 1]));
    });
    threads.sync();
    running_sums<bins_in<E, G>>(threads, to.partial, to.start + 1);
    threads.sync();
    threads.template spread_over<count>([&](int k) {
        const int b = bin[k];
        if (b >= 0) to.unordered[to.start[b] + to.before[k]] = int16_t(k);
    });
    threads.sync();
}
template <class E, class G> NACELLE_INLINE int id_at(const GroupMemory<E, G>& members, int k) {
    if constexpr (moves<E, G>) return members.id[k];
    else return k;
}
// Each member to its place among those of its bin: by id, whatever order they came in. Gives whether all are
// in bins. Where members are counted in shared memory, they are taken as they lie: their bins and ids come
// from global memory, side by side.
template <class E, class G>
NACELLE_INLINE bool order_bins(GroupMemory<E, G>& table, const TeamThreads<E>& threads,
                               const Counts& from) {
    constexpr int count = count_of<E, G>, bins = bins_in<E, G>;
    const bool all = from.start[bins] == count;
    threads.template spread_over<count>([&](int n) {
        const int k = all && !Shape<E>::sorts_inside ? from.unordered[n] : n, b = table.bin[k];
        if (b < 0) return;
        const int id = id_at(table, k), end = from.start[b + 1];
        int place = from.start[b];
        NACELLE_ROLLED for (int other = place; other < end; ++other) place +=
            id_at(table, from.unordered[other]) < id;
        table.at[place] = int16_t(k);
    });
    if (threads.lane == 0) table.sorted = all;
    return all;
}
// The shared memory where there is room for it, else the table itself and a place of the team's.
template <class E, class G>
NACELLE_INLINE Counts counts_of(TeamMemory<E>& memory, [[maybe_unused]] int& turn) {
    if constexpr (Shape<E>::sorts_inside) {
        auto& room = *reinterpret_cast<SortRoom<E, G>*>(shared_memory<E>());
        return {room.start, room.before, room.unordered, room.partial};
    } else {
        auto& table = memory.template group<G>();
        uint64_t* const partial = memory.partial[turn];
        turn ^= 1;
        return {table.start, table.at, table.unordered, partial};
    }
}
// The table from bin_of(k). Gives whether all are in bins.
template <class E, class G, class Fn>
NACELLE_INLINE bool fill_bins(TeamMemory<E>& memory, const TeamThreads<E>& threads, int& turn,
                              Fn&& bin_of) {
    auto& table = memory.template group<G>();
    const auto keep_bin = [&](int k) {
        const int b = bin_of(k);
        table.bin[k] = int16_t(b);
        return b;
    };
    const Counts counts = counts_of<E, G>(memory, turn);
    if constexpr (Shape<E>::sorts_inside)
        threads.sync();    // the sort before may still be looking at it
    threads.template spread_over<bins_in<E, G> + 1, Weight::light>(
        [&](int i) { counts.start[i] = 0; });
    threads.sync();
    count_bins<E, G>(threads, counts, keep_bin, table.bin);
    const bool all = order_bins<E, G>(table, threads, counts);
    if constexpr (Shape<E>::sorts_inside)
        threads.template spread_over<bins_in<E, G> + 1, Weight::light>(
            [&](int i) { table.start[i] = counts.start[i]; });
    return all;
}

// Every member to its place in the order of the bins, word by word: neighbouring threads move
// neighbouring words.
template <class E, class G>
NACELLE_INLINE void move_members(TeamMemory<E>& memory, const TeamThreads<E>& threads) {
    auto& members = memory.template group<G>();
    constexpr int words = int(sizeof members.member[0]) / 4, all = words * count_of<E, G>;
    auto* const word = reinterpret_cast<uint32_t*>(members.member);
    threads.sync();
    threads.template spread_over<all, Weight::light>([&](int w) { members.held[w] = word[w]; });
    threads.template spread_over<count_of<E, G>, Weight::light>(
        [&](int k) { members.unordered[k] = members.bin[members.at[k]]; });
    threads.sync();
    threads.template spread_over<all, Weight::light>(
        [&](int w) { word[w] = members.held[members.at[w / words] * words + w % words]; });
    threads.sync();
    threads.template spread_over<count_of<E, G>>([&](int k) {
        members.bin[k] = members.unordered[k];
        members.at[k] = int16_t(k);
        const int id = members.member[k].id;
        members.id[k] = int16_t(id);
        members.slot[id] = int16_t(k);
    });
}
template <class E, class G, class Fn>
NACELLE_INLINE void sort_bins(TeamMemory<E>& memory, const TeamThreads<E>& threads, int& turn,
                              Fn&& bin_of) {
    static_assert(bins_in<E, G> <= 32767, "a group has at most 32767 bins");
    static_assert(bins_in<E, G> > 0,
                  "a group that is sorted needs 'static constexpr int bins = ...'");
    auto& members = memory.template group<G>();
    [[maybe_unused]] int sorts = 0;
    if constexpr (moves<E, G>) sorts = members.sorts + 1;
    [[maybe_unused]] const bool all = fill_bins<E, G>(memory, threads, turn, [&](int k) {
        const Member<E, G>& member = members.member[k];
        const int b = bin_of(member);
        check_index("the bins of a sorted group", b, bins_in<E, G>);
        return b;
    });
    if constexpr (moves<E, G>) {    // everybody has read `sorts` before one of the barriers
        const bool now = all && sorts >= sorts_between_moves;
        if (now) move_members<E, G>(memory, threads);
        if (threads.lane == 0) members.sorts = now ? 0 : sorts;
    }
}
// The table of members that move, from bin_of(id), before they are loaded: each gets its place in the order
// of the bins, if all are in bins.
template <class E, class G, class Fn>
NACELLE_INLINE void place_by_bins(TeamMemory<E>& memory, const TeamThreads<E>& threads, int& turn,
                                  Fn&& bin_of) {
    constexpr int count = count_of<E, G>;
    auto& members = memory.template group<G>();
    threads.template spread_over<count, Weight::light>([&](int i) { members.id[i] = int16_t(i); });
    const bool sorted = fill_bins<E, G>(memory, threads, turn, bin_of);
    threads.sync();
    if (sorted) {
        threads.template spread_over<count, Weight::light>([&](int k) {
            members.unordered[k] = members.bin[members.at[k]];
            members.id[k] = members.at[k];
            members.slot[members.at[k]] = int16_t(k);
        });
        threads.sync();
        threads.template spread_over<count, Weight::light>([&](int k) {
            members.bin[k] = members.unordered[k];
            members.at[k] = int16_t(k);
        });
    } else
        threads.template spread_over<count, Weight::light>(
            [&](int i) { members.slot[i] = int16_t(i); });
    if (threads.lane == 0) members.sorts = sorted ? 0 : sorts_between_moves;
}
// As an episode begins: nobody is in any bin.
template <class E, class G>
NACELLE_INLINE void empty_bins(TeamMemory<E>& memory, const TeamThreads<E>& threads) {
    if constexpr (has_bins<E, G>) {
        auto& members = memory.template group<G>();
        threads.template spread_over<bins_in<E, G> + 1>([&](int i) { members.start[i] = 0; });
        threads.template spread_over<count_of<E, G>>([&](int i) { members.bin[i] = -1; });
        if (threads.lane == 0) {
            members.sorted = false;
            if constexpr (moves<E, G>)
                members.sorts = sorts_between_moves;    // the first sort moves
        }
    }
}

}
