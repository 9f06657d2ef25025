#pragma once
#include <nacelle/device/episode/draws.h>
#include <nacelle/device/episode/observation.h>
#include <nacelle/device/episode/snapshot.h>
#include <nacelle/device/episode/statistics.h>
#include <nacelle/device/team/team_step.h>
// How an environment moves from episode to episode: what ends one, and what begins the next. The only text
// of it, for one agent and for teams: what differs is asked of the Lane or the LocalTeam.

namespace nacelle::detail {

struct Ended {
    Flag terminated, truncated;
};
// What the author said and the time limit, which cuts short what has not terminated.
template <class E> NACELLE_INLINE Ended ended_by(Flag terminated, Flag truncated, int clock) {
    const bool limit = time_limit_of<E>() > 0 && clock >= time_limit_of<E>();
    return {terminated, bool((truncated.byte | limit) & !terminated.byte)};
}

// One step of an environment with one agent: the author's, the limit, the return.
template <class E>
NACELLE_INLINE Outcome step_local(const View<E>& view, uint64_t tick, LocalEnv<E>& local,
                                  const A<E>& action) {
    ++local.length;
    Rng rng(view.head.seed, Domain::step, tick, view.head.first_env + uint32_t(local.env));
    const Outcome said = call_step<E>(local.state, action, local.params(view), rng,
                                      episode_of<E>(view, tick, local));
    const Ended ended = ended_by<E>(said.terminated, said.truncated, clock_of<E>(view, local));
    local.running += said.reward;
    return {said.reward, ended.terminated, ended.truncated};
}

// The author's reset, and a return of 0.
template <class E>
NACELLE_INLINE void begin_episode(const View<E>& view, uint64_t tick, LocalEnv<E>& local, uint32_t,
                                  uint32_t) {
#ifdef NACELLE_CHECKED
    // A field that reset() leaves out shows what was in its array: `nacelle check` compares two fillings.
    load_row<E>(view.array, slot_of<E>(Role::state), local.env, view.head.envs, local.state);
#endif
    Rng rng(view.head.seed, Domain::reset, tick, view.head.first_env + uint32_t(local.env));
    call_reset<E>(local.state, local.params(view), rng, episode_of<E>(view, tick, local));
    local.running = 0;
}

// The next episode: from a snapshot with the chance that the run asks for, else by the author's reset.
template <class E, class L>
NACELLE_INLINE void open_episode(const View<E>& view, uint64_t tick, L& local, bool first) {
    const uint32_t row = view.head.first_env + uint32_t(local.env);
    uint32_t number = 0, level = 0;
    local.sync();    // whoever read the number of the last episode is done
    if constexpr (uses_episode<E>) {
        number = first ? 0 : number_before<E>(view, local) + 1;
        if (local.is_first()) number_at<E>(view, local.env) = number;
    }
    local.length = 0;
#ifndef NACELLE_NO_POOL    // a draft for whoever never asks for that chance
    if (view.head.pool_size && view.head.pool_chance > 0) {
        Rng rng(view.head.seed, Domain::snapshots, tick, row);
        if (rng.chance(view.head.pool_chance))
            return load_snapshot<E>(view, tick, local, size_t(rng.below(int(view.head.pool_size))),
                                    view.head.pool_size);
    }
#endif
    draw_params<E>(view, tick, local);
    if constexpr (uses_episode<E>) {
        const uint32_t bits = Rng(view.head.seed, Domain::level, tick, row).bits();
        level = view.head.levels ? uint32_t(uint64_t(bits) * view.head.levels >> 32) : bits >> 1;
        if (local.is_first()) level_at<E>(view, local.env) = level;
    }
    if (view.head.pool_size && local.is_first()) start_at<E>(view, local.env) = 0;
    begin_episode<E>(view, tick, local, number, level);
}

}
