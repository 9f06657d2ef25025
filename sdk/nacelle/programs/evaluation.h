#pragma once
#include <nacelle/device/team/local_team.h>
#include <nacelle/kernel.h>
// What an evaluation keeps: the first episode of each of some environments, noted on the device when
// it ends.

namespace nacelle {

struct FirstEpisodesArgs {
    double* returns;     // [policies][envs]
    int32_t* lengths;    // [envs]
    uint8_t* over;       // [envs]: whether it has been noted
    float* logs;         // [numbers of the author's Log][envs], or null
    uint32_t envs;
    uint32_t cut;    // 1: what has not ended is noted as it stands
};

namespace detail {

// The return so far of the agents of policy `p`, for an episode that is cut.
template <class E> NACELLE_INLINE double running_return(const View<E>& view, size_t env, int p) {
    double sum = 0;
    for_each_group<E>([&]<class G, int I>() {
        for (int i = 0; i < count_of<E, G>; ++i)
            if (policy_of<E>(I, i) == p)
                sum += double(group_column<E, float, Role::episode, I>(view)[row_of<E, G>(env, i)]);
    });
    const uint32_t agents = description<E>.header.policy[p].agents;
    return sum / double(agents ? agents : 1);
}
// The numbers of a struct's leaves before one of them, in the order in which fields are listed.
template <class T> constexpr size_t numbers_before(int leaf) {
    size_t numbers = 0;
    for (int i = 0; i < leaf; ++i) numbers += leaves_of<T>.field[i].count;
    return numbers;
}
// What report() said of the episode that has just ended.
template <class E>
NACELLE_INLINE void note_log(const View<E>& view, const FirstEpisodesArgs& args, size_t env) {
    if constexpr (!same<LogOf<E>, None>) {
        LogOf<E> log;
        load_row<E>(view.array, slot_of<E>(Role::log), env, view.head.envs, log);
        for_each_element(log, [&]<int leaf>(Index<leaf>, int k, auto& value) {
            constexpr size_t before = numbers_before<LogOf<E>>(leaf);
            args.logs[(before + size_t(k)) * args.envs + env] = float(value);
        });
    }
}
// A step that ended an episode leaves its whole length and return behind; the totals of a team were
// cleared before, so that they hold its first episode alone.
template <class E>
NACELLE_INLINE void note_episode(const View<E>& view, const FirstEpisodesArgs& args, size_t env,
                                 bool ended) {
    args.over[env] = ended;
    if (ended && args.logs) note_log<E>(view, args, env);
    args.lengths[env] = NACELLE_COLUMN(view, int, Role::episode, "episode.length")[env];
    if constexpr (is_team<E>) {
        const double* const total =
            static_cast<const double*>(view.array[slot_of<E>(Role::total)]) + env * totals_kept<E>;
        for (int p = 0; p < policy_count<E>(); ++p)
            args.returns[size_t(p) * args.envs + env] =
                ended ? total[2 + 2 * p] : running_return<E>(view, env, p);
    } else
        args.returns[env] =
            double(NACELLE_COLUMN(view, float, Role::episode, "episode.return")[env]);
}
template <class E>
NACELLE_INLINE void first_episodes(const View<E>& view, const FirstEpisodesArgs& args,
                                   Items items) {
    const uint64_t end = min(items.end, uint64_t(args.envs));
    for (uint64_t env = items.begin; env < end; ++env) {
        if (args.over[env]) continue;
        const bool ended = column<E, uint8_t, Role::terminated>(view)[env] |
                           column<E, uint8_t, Role::truncated>(view)[env];
        if (ended || args.cut) note_episode<E>(view, args, size_t(env), ended);
    }
}

}
}

#define NACELLE_EVALUATION()                                                                       \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_KERNEL(nacelle_first_episodes, nacelle::FirstEpisodesArgs, 128,                        \
                   nacelle::detail::first_episodes)
