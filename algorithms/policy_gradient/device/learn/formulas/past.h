#pragma once
#include <learn/sums/ranks.h>
// Games against the past: who plays whom, what came of it, and the ring of members that an iteration begins with.

namespace learn {

// The game that all policies play, and the group of the first one.
template <class E> constexpr Against game_of() {
    Against game = Against::none;
    for_each_policy<E>([&]<int policy>() { game = Spec<policy>::past; });
    return game;
}
template <class E> constexpr int first_group() {
    int group = 0;
    for_each_policy<E>([&]<int policy>() { group = policy == 0 ? Spec<policy>::group : group; });
    return group;
}
// The policy whose past this one plays.
template <int policy>
inline constexpr int rival = Spec<policy>::past == Against::roles ? 1 - policy : policy;

// The member that plays a row, or `present` for the weights that learn.
inline constexpr int present = -1;
template <int policy> NACELLE_INLINE int player_of(const Arguments& a, uint64_t env, int id) {
    if constexpr (plays_past<policy>)
        return learns_in<policy>(env, id) ? present : a.pools[policy].opponent[env];
    else return present;
}

NACELLE_INLINE void count_one(uint32_t* counter) {
#if defined(__CUDACC_RTC__)
    atomicAdd(counter, 1u);
#else
    __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
#endif
}
// What both sides of a team got in the episode that has ended. All its threads come along.
template <class E> NACELLE_INLINE void sum_sides(LocalTeam<E>& local, float (&sum)[2]) {
    if constexpr (game_of<E>() == Against::sides) {
        auto& members = local.memory.template group<GroupNumber<E, first_group<E>()>>();
        NACELLE_UNROLL for (int side = 0; side < 2; ++side) sum[side] = members.running[side];
    } else {
        int turn = 0;
        local.sync();
        for_each_group<E>([&]<class G, int I>() {
            auto& members = local.memory.template group<G>();
            for (int p = 0; p < 2; ++p)
                sum[p] += local.threads.template combine<count_of<E, G>>(
                    local.memory, turn, -0.0f,
                    [&](int i) { return policy_of<E>(I, i) == p ? members.running[i] : -0.0f; },
                    [](float a, float b) { return a + b; });
        });
    }
}
// Where an episode has ended: who of both sides got more, and who plays the next one.
template <class E> NACELLE_INLINE void note_result(const Arguments& a, LocalTeam<E>& local) {
    float sum[2] = {};
    sum_sides<E>(local, sum);
    if (!local.is_first()) return;
    constexpr bool sides = game_of<E>() == Against::sides;
    const int learner = int((sides ? local.env : local.env / opponents_together) & 1);
    const PastPool& pool = a.pools[sides ? 0 : 1 - learner];
    int32_t& opponent = pool.opponent[local.env];
    const float own = sum[learner], other = sum[1 - learner];
    count_one(pool.counted + opponent * int32_t(result_count) +
              (own > other   ? won
               : own < other ? lost
                             : drawn));
    opponent = pool.drawn[local.env / opponents_together];
}

NACELLE_INLINE double games_of(const uint32_t* results) {
    return double(results[won]) + double(results[drawn]) + double(results[lost]);
}
// What a member was worth lately to who learned against it, of 1, as if one more game had been won and one lost.
NACELLE_INLINE double score(const uint32_t* results) {
    return (double(results[won]) + 0.5 * double(results[drawn]) + 1) / (games_of(results) + 2);
}

// Where the next member goes: into a free place, or that of any but the first one. So the first one stays, which all
// ratings go by, and the others are of all times of the run, the later the more.
template <int policy>
NACELLE_INLINE uint32_t next_place(const PastPool& pool, uint64_t seed, uint64_t iteration) {
    for (uint64_t k = 0; k < pool.members; ++k)
        if (pool.steps[k] == 0) return uint32_t(k);
    Rng rng(seed, Domain::opponents, iteration, ~0u, uint32_t(policy));
    return 1 + uint32_t(rng.below(int(pool.members) - 1));
}

// The rating of the policy as it is now moves to where its results lately are the likeliest (Bradley and Terry, 1952): the
// chance to win is 1 / (1 + 10^(-d / 400)) with d of its rating over the member's. Of the games against a member few count,
// so that all members weigh about alike, the first and weakest one too: who beats the latest ones alone does not rise far.
// A whole block comes along.
template <class E, int policy>
NACELLE_INLINE void rate_past(const View<E>& view, const Arguments& a, Items items) {
    if (!NACELLE_GPU && items.begin != 0) return;
    if (items.begin == 0)
        *a.pools[policy].place =
            next_place<policy>(a.pools[policy], view.head.seed, a.iteration[0]);
    constexpr double to_logs = 2.302585092994046 / 400, most_change = 100, most_counted = 256;
    constexpr int halvings = 16;
    const PastPool& met = a.pools[rival<policy>];
    double& rating = a.pools[policy].rating[a.pools[policy].members];
    const double now = rating;
    double low = now - most_change, high = now + most_change;
    for (int i = 0; i < halvings; ++i) {
        const double at = 0.5 * (low + high);
        const Sums<2> sums = sum_by<2>(uint32_t(met.members), [&](uint32_t k, int which) {
            const uint32_t* const its = met.results + k * result_count;
            const double counted = min(games_of(its), most_counted);
            if (which == 0 || counted == 0) return counted;
            return counted *
                   (score(its) - 1 / (1 + double(exp(float((met.rating[k] - at) * to_logs)))));
        });
        if (sums.at[0] == 0) return;
        (sums.at[1] > 0 ? low : high) = at;
    }
    if (items.begin == 0) rating = 0.5 * (low + high);
}

// Every so many iterations the policy as it is now takes a place. Results fade then, by half: what is counted is
// of lately.
template <class E, int policy>
NACELLE_INLINE void keep_past(const View<E>& view, const Arguments& a, Items items) {
    constexpr uint32_t most_games = 4096;
    constexpr uint64_t width = uint64_t(width_of<E, policy>),
                       parameters = uint64_t(Networks<E, policy>::parameters);
    const PastPool& pool = a.pools[policy];
    const Memory& memory = a.memory[Spec<policy>::group];
    const uint64_t now = a.iteration[0], member = *pool.place;
    const bool keeps = now % pool.every == 0;
    for (uint64_t i = items.begin; i < min(items.end, max(parameters, pool.members)); ++i) {
        if (i < pool.members) {
            uint32_t* const results = pool.results + i * result_count;
            const uint32_t games = results[won] + results[drawn] + results[lost];
            for (int r = 0; r < result_count; ++r)
                results[r] = keeps && i == member          ? 0
                             : keeps || games > most_games ? results[r] / 2
                                                           : results[r];
        }
        if (!keeps) continue;
        if (i < parameters) pool.weights[member * parameters + i] = a.policy[policy].weights[i];
        for (uint64_t k = i; k < width; k += parameters) {
            pool.mean[member * width + k] = memory.mean[k];
            pool.scale[member * width + k] = memory.scale[k];
        }
        if (i > 0) continue;
        pool.steps[member] = now * a.steps * view.head.envs * uint64_t(rank_count) + 1;
        pool.rating[member] = pool.rating[pool.members];
    }
}

// Of several ranks each counts its own results of an iteration, and all of them take the sum.
template <class E, int policy>
NACELLE_INLINE void hand_over_results(const View<E>&, const Arguments& a, Items items) {
    const PastPool& pool = a.pools[policy];
    for (uint64_t i = items.begin; i < min(items.end, pool.members * result_count); ++i) {
        pool.summed[i] = double(pool.counted[i]);
        pool.counted[i] = 0;
    }
}
template <class E, int policy>
NACELLE_INLINE void take_results(const View<E>&, const Arguments& a, Items items) {
    const PastPool& pool = a.pools[policy];
    for (uint64_t i = items.begin; i < min(items.end, pool.members * result_count); ++i)
        pool.results[i] += uint32_t(pool.summed[i]);
}

// Later members have more steps.
NACELLE_INLINE int latest_of(const PastPool& pool) {
    uint64_t member = 0;
    for (uint64_t k = 1; k < pool.members; ++k)
        if (pool.steps[k] > pool.steps[member]) member = k;
    return int(member);
}
// By the square of what is still to be won there (prioritised fictitious self-play, Vinyals and others, 2019), or evenly.
NACELLE_INLINE float chance_of(const PastPool& pool, uint64_t member, bool evenly) {
    if (pool.steps[member] == 0) return 0;
    if (evenly) return 1;
    const float left = float(1 - score(pool.results + member * result_count));
    return left * left;
}
// One draw of so many is an even one, whatever is asked: all members are met, and ratings know of them.
inline constexpr float draws_to_even = 8;
NACELLE_INLINE int draw_member(const PastPool& pool, Rng& rng) {
    const bool evenly = rng.uniform() * draws_to_even < 1 || pool.sample == Sample::uniform;
    if (!evenly && pool.sample == Sample::latest) return latest_of(pool);
    float all = 0, below = 0;
    for (uint64_t k = 0; k < pool.members; ++k) all += chance_of(pool, k, evenly);
    const float at = rng.uniform() * all;
    int found = 0;
    for (uint64_t k = 0; k < pool.members; ++k) {
        const float its = chance_of(pool, k, evenly);
        if (its > 0 && at >= below) found = int(k);
        below += its;
    }
    return found;
}
// Who plays episodes that begin in this iteration: an item is a group of neighbouring environments.
template <class E, int policy>
NACELLE_INLINE void draw_past(const View<E>& view, const Arguments& a, Items items) {
    const PastPool& pool = a.pools[policy];
    const uint64_t groups = (view.head.envs + opponents_together - 1) / opponents_together;
    for (uint64_t group = items.begin; group < min(items.end, groups); ++group) {
        const uint64_t in_run = view.head.first_env / opponents_together + group;
        Rng rng(view.head.seed, Domain::opponents, a.iteration[0], uint32_t(in_run),
                uint32_t(policy));
        pool.drawn[group] = draw_member(pool, rng);
    }
    if (items.begin == 0)
        for (uint64_t k = 0; k < pool.members; ++k) pool.ready[k] = pool.steps[k];
}

}
