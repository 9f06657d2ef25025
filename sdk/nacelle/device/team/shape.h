#pragma once
#include <nacelle/device/team/team_memory.h>
// How environments map to threads, decided from the author's struct alone: the host launches by these
// numbers, which are in the schema's header.

namespace nacelle::detail {

template <class E, class G> inline constexpr bool group_has_image = arrays_in<ObsOf<E, G>> > 0;
template <class E> constexpr bool any_image() {
    bool any = false;
    for_each_group<E>([&]<class G, int>() { any = any || group_has_image<E, G>; });
    return any;
}
template <class E> inline constexpr bool has_image = any_image<E>();

constexpr int power_of_two_from(int n) {
    int power = 1;
    while (power < n) power *= 2;
    return power;
}
constexpr int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

// From sm_90 on two blocks of a cluster can share a team.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr int most_threads_of_team = 2048;
#else
inline constexpr int most_threads_of_team = 1024;
#endif
// Shared memory that a block can have.
#if defined(NACELLE_EMULATE) || !defined(__CUDA_ARCH__)
inline constexpr int most_shared = 1 << 30;
#elif __CUDA_ARCH__ >= 1200 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890
inline constexpr int most_shared = 99 * 1024;
#elif __CUDA_ARCH__ >= 900
inline constexpr int most_shared = 227 * 1024;
#elif __CUDA_ARCH__ >= 800
inline constexpr int most_shared = 163 * 1024;
#else
inline constexpr int most_shared = 64 * 1024;
#endif
template <class E> constexpr bool wants_pairs() {
    return most_threads_of_team > 1024 && agents_in_all<E>() >= 8192;
}
template <class E> constexpr int widest_row() {
    int widest = 0;
    for_each_group<E>([&]<class G, int>() { widest = max(widest, numbers_in<ObsOf<E, G>>); });
    return widest;
}
// Threads for one environment. A team of up to 32 has a part of a warp; a larger one has a block, whose
// threads take several agents each; from 8,192 agents on it has the blocks of a cluster. The author's
// `threads` is followed where it is at least the agents of a small team, or a multiple of 32.
template <class E> constexpr int threads_for_team() {
    constexpr int agents = most_agents<E>(), wish = threads_of<E>();
#if defined(NACELLE_TEAM_LANES)
    constexpr int asked = NACELLE_TEAM_LANES;
#elif defined(NACELLE_EMULATE)
    constexpr int asked = wish > 64 || agents > 32 ? 64 : wish;
#else
    constexpr int asked = wish;
#endif
    if (agents <= 32 && asked <= 32) return power_of_two_from(asked > agents ? asked : agents);
    if (asked > 0) return rounded_up(min(asked, most_threads_of_team), asked > 1024 ? 64 : 32);
    // Who sees little is soon done: several agents for each thread (608 M against 416 M steps/s with 105
    // agents, 93 M against 86 M with 1,000; H200, 2026-11).
    if (agents <= 2048 && widest_row<E>() <= 16) return clamp(rounded_up(agents / 8, 32), 32, 256);
    if (agents <= 128) return rounded_up(agents, 32);
    if (agents <= 2048) return 256;
    return wants_pairs<E>() ? 2048 : 1024;
}

// Rows of observations are gathered in shared memory and leave it side by side. A warp, or a team that
// has less, has this much room for it.
inline constexpr int stage_floats = 2304;
// A row of this width is stored by its agent alone, 16 bytes at once.
constexpr bool leaves_alone(int width) { return width == 1 || width == 2 || width == 4; }
// What a stage keeps for where its first row begins, where rows do not begin on 16 bytes; and all its floats.
inline constexpr int most_spare = 3;
constexpr int stage_of(int rows_floats, int spare) { return rounded_up(rows_floats + spare, 4); }
// The rows that fit into `room` floats; 0: they are written in place, one number at a time.
constexpr int rows_staged(int width, int unit, int room) {
    if (width == 0 || leaves_alone(width)) return 0;
    const int most = 4 * stage_floats;    // a very wide row may take four times the usual room
    return width > room ? (width <= most ? 1 : 0) : room / width < unit ? room / width : unit;
}
// A lane writes a row, so a warp whose stage holds few of them works with few lanes: rows too wide for the usual room
// get what a block can have where eight warps share a multiprocessor: there are lanes at work and warps to wait for each
// other. With sixteen warps a rollout of 105 agents that see 421 numbers was 7 % slower (H200, 2026-11).
constexpr int room_of_warp([[maybe_unused]] int warps, [[maybe_unused]] int memory,
                           [[maybe_unused]] int shared = most_shared) {
#if defined(NACELLE_EMULATE)
    return stage_floats;
#else
    const int blocks = warps < 8 ? 8 / warps : 1,
              floats = ((shared + 1024) / blocks - 1024 - memory) / 4 / warps,
              room = floats / 4 * 4 - most_spare;    // a whole stage of this room fits
    return room > stage_floats ? room : stage_floats;
#endif
}

// Bytes of a block's stages that are left out: rows for which there is no room are written in place, one
// number at a time. So it is with what is more than a block can have; and a few rows are worth it where the
// others leave the first-level cache, by which a team in global memory lives, a step more: a multiprocessor
// of sm_80 and later gives blocks its shared memory in steps, 1 KiB of a block's being the driver's. 32 KiB
// more of cache were 3 % of the time of teams of 16,384 agents, and the price 8 of 1,024 rows (H200,
// 2026-11). This is for a block that has a multiprocessor for itself.
constexpr int left_out([[maybe_unused]] int stages, [[maybe_unused]] int threads,
                       [[maybe_unused]] bool in_shared) {
#if defined(NACELLE_EMULATE)
    return rounded_up(stages / 32, 16);    // so that there are such rows everywhere
#else
    constexpr int steps[] = {100, 132, 164, 196};    // KiB
    if (stages > most_shared) return stages - most_shared;
    if (!in_shared && threads == 1024)
        for (const int step : steps) {
            const int over = stages - (step - 1) * 1024;
            if (over > 0 && over <= stages / 32) return over;
        }
    return 0;
#endif
}

#if NACELLE_GPU
template <class E> struct TeamShape {
    static constexpr int lanes = threads_for_team<E>();
    static constexpr int unit = lanes < 32 ? lanes : 32;    // threads that store rows together
    static constexpr int memory = rounded_up(int(sizeof(TeamMemory<E>)), 16);
    static constexpr int room = lanes > 32 ? room_of_warp(min(lanes, 1024) / 32, memory)
                                           : stage_floats;    // of a unit's stage at most
    // How many rows of this group a unit stages at once.
    template <class G> static constexpr int rows_at_once() {
        return min(rows_staged(numbers_in<ObsOf<E, G>>, unit, room), count_of<E, G>);
    }
    // The floats that a unit stages at once, and in pieces of how many (4, 2 or 1) those of every team and of every
    // round begin and end.
    template <class G> static constexpr int floats_at_once() {
        return numbers_in<ObsOf<E, G>> * rows_at_once<G>();
    }
    template <class G> static constexpr int piece_of_all() {
        constexpr int of_team = numbers_in<ObsOf<E, G>> * count_of<E, G>,
                      all =
                          of_team | (rows_at_once<G>() < count_of<E, G> ? floats_at_once<G>() : 0);
        return all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
    }
    // Whether the unit's threads have sent them, in such pieces, after three turns.
    template <class G> static constexpr bool leaves_soon(int piece) {
        return floats_at_once<G>() <= 3 * piece * unit;
    }
    // Whether they leave 16 bytes at once all the same, but for the odd ones at both ends: where smaller pieces would
    // take longer. Rows that are scattered do not leave in pieces.
    template <class G> static constexpr bool has_ends() {
        return !has_bins<E, G> && piece_of_all<G>() < 4 && !leaves_soon<G>(piece_of_all<G>());
    }
    static constexpr int floats_to_spare() {
        int spare = 0;
        for_each_group<E>([&]<class G, int>() {
            if (has_ends<G>()) spare = most_spare;
        });
        return spare;
    }
    static constexpr int spare = floats_to_spare();    // of a stage, for where its first row begins
    static constexpr int stage_of_unit() {
        int most = 0;
        for_each_group<E>([&]<class G, int>() { most = max(most, floats_at_once<G>()); });
        return stage_of(most, spare);
    }
    static constexpr int stage = stage_of_unit();    // floats

    static constexpr int bytes_with(int threads, bool team_inside) {
        return (team_inside ? (lanes < threads ? threads / lanes : 1) * memory : 0) +
               threads / unit * stage * 4;
    }
    // Threads of a block, in which there are several small teams or one large one, or a part of one.
    static constexpr int threads_of_block() {
        if (lanes > 1024 || (lanes > 32 && lanes % 64 == 0 && wants_pairs<E>())) return lanes / 2;
        if (lanes > 32) return lanes;
        int threads = 128;
        while (threads > 32 && bytes_with(threads, true) > 48 * 1024) threads /= 2;
        return threads;
    }
    static constexpr int threads = threads_of_block();
    static constexpr int blocks = lanes > threads ? lanes / threads : 1;    // of a cluster
#if defined(NACELLE_EMULATE)
    static constexpr bool in_shared = !any_moves<E>();
#else
    static constexpr bool in_shared = blocks == 1 && bytes_with(threads, true) <= most_shared;
#endif
    static constexpr int workspace = in_shared ? 0 : rounded_up(memory, 256);

    static constexpr int all_stages = threads / unit * stage * 4;
    static constexpr int stages = all_stages - left_out(all_stages, threads, in_shared);
    static constexpr bool some_in_place = stages < all_stages;
    // What a sort of a team in global memory counts in, if it has one block: the room of the stages.
    static constexpr int sort_bytes() {
        int bytes = 0;
        for_each_group<E>([&]<class G, int>() {
            if constexpr (has_bins<E, G>) bytes = max(bytes, int(sizeof(SortRoom<E, G>)));
        });
        return rounded_up(bytes, 16);
    }
    static constexpr bool sorts_inside = !in_shared && lanes == threads && sort_bytes() > 0 &&
                                         max(stages, sort_bytes()) <= most_shared;
    static constexpr int shared_bytes = in_shared      ? bytes_with(threads, true)
                                        : sorts_inside ? max(stages, sort_bytes())
                                                       : stages;
    static_assert(shared_bytes <= most_shared);
    // Blocks that a multiprocessor is to have at a time, for the compiler, which else gives a thread too many
    // registers or too few; 0: as it likes. Four of 128 threads with several small teams: a fused step of 65,536
    // teams of 5 takes 12 % less than with its own choice, but one of a block's single team of 1,000 agents
    // 17 % more. Three of 256 where shared memory lets them in: two made a fused step of teams of 256 agents
    // 40 % longer; other blocks gain nothing, and some lose (H200, 2026-11).
    static constexpr int at_once =
        threads == 128 && lanes < threads                                   ? 4
        : threads == 256 && 3 * (shared_bytes + 1024) <= most_shared + 1024 ? 3
                                                                            : 0;
};
// A step is one thread's work. Images are written by whole warps, one environment's after the other's: the fewer
// environments a warp has, the sooner it is done.
template <class E> struct SoloShape {
    static constexpr int lanes = has_image<E> ? 8 : 1, unit = 1, threads = 128, blocks = 1,
                         shared_bytes = 0, workspace = 0, stage = 0, at_once = 0;
    static constexpr bool in_shared = false, sorts_inside = false;
};
#else
// On a CPU one thread runs whole environments: `threads` of them in a share of the work, so that a share is worth handing
// out.
template <class E> struct TeamShape {
    static constexpr int lanes = 1, unit = 1, blocks = 1, shared_bytes = 0, workspace = 0,
                         stage = 0, room = stage_floats;
    static constexpr int threads = agents_in_all<E>() >= 256 ? 1 : 256 / agents_in_all<E>();
    static constexpr bool in_shared = false, sorts_inside = false;
};
template <class E> struct SoloShape {
    static constexpr int lanes = 1, unit = 1, threads = 128, blocks = 1, shared_bytes = 0,
                         workspace = 0, stage = 0;
    static constexpr bool in_shared = false, sorts_inside = false;
};
#endif

template <class E, bool team> struct ShapeFor { using type = SoloShape<E>; };
template <class E> struct ShapeFor<E, true> { using type = TeamShape<E>; };
template <class E> using Shape = typename ShapeFor<E, is_team<E>>::type;

#if NACELLE_GPU && !defined(NACELLE_EMULATE)
extern "C" __shared__ __align__(16) unsigned char nacelle_shared[];
#elif NACELLE_GPU
template <class E> alignas(16) inline unsigned char shared_of[Shape<E>::shared_bytes + 16];
#endif
// Whose this thread is, of so many environments.
template <class E>
NACELLE_INLINE uint64_t env_of_thread(uint64_t thread, [[maybe_unused]] uint32_t envs) {
    constexpr uint32_t most = uint32_t(Shape<E>::lanes);
    if constexpr (is_team<E> || most == 1) return thread / most;
    else return thread >> doublings_of_env(most, envs);
}
// Whether it takes the steps of an environment with one agent.
template <class E> NACELLE_INLINE bool has_solo([[maybe_unused]] uint32_t envs) {
#if NACELLE_GPU
    if constexpr (Shape<E>::lanes > 1)
        return (threadIdx.x & ((1u << doublings_of_env(uint32_t(Shape<E>::lanes), envs)) - 1)) == 0;
#endif
    return true;
}
// The shared memory of this block: stages first.
template <class E> NACELLE_INLINE unsigned char* shared_memory() {
#if defined(NACELLE_EMULATE)
    return shared_of<E>;
#elif NACELLE_GPU
    return nacelle_shared;
#else
    return nullptr;
#endif
}

}
