#pragma once
#include <nacelle/device/episode/observation.h>
#include <nacelle/device/episode/snapshot.h>
#include <nacelle/device/episode/statistics.h>
// The only code that advances an environment: the author's step with the time limit and the return, and
// the next episode by reset or from a snapshot. What it is made of is in device/episode: lanes, observations,
// statistics, snapshots. Loops over lanes are in rollout.h.

namespace nacelle::detail {

// The author's step, the clock, the limit, the return.
template <class E>
NACELLE_INLINE Outcome step_lane(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane,
                                 const A<E>& action) {
    ++lane.length;
    Rng rng(view.head.seed, Domain::step, tick, view.head.first_env + uint32_t(env));
    const Outcome said = call_step<E>(lane.state, action, lane.params(view), rng,
                                      episode_of<E>(view, tick, env, lane));
    const bool limit = time_limit_of<E>() > 0 && clock_of<E>(view, env, lane) >= time_limit_of<E>();
    lane.running += said.reward;
    return {said.reward, said.terminated,
            bool((said.truncated.byte | limit) & !said.terminated.byte)};
}

template <class T> NACELLE_INLINE T drawn(const Draw& draw, Rng& rng) {
    constexpr bool whole = !same<T, float> && !same<T, double>;
    float x = draw.a;
    if (draw.form == Draw::uniform) {
        if constexpr (whole) return T(int(draw.a) + rng.below(int(draw.b) - int(draw.a) + 1));
        else x = rng.uniform(draw.a, draw.b);
    } else if (draw.form == Draw::log_uniform) x = exp(rng.uniform(log(draw.a), log(draw.b)));
    else if (draw.form == Draw::normal) x = draw.a + draw.b * rng.normal();
    else if (draw.form == Draw::choice) x = draw.value[rng.below(draw.count)];
    return T(whole ? floor(x + 0.5f) : x);
}
template <class E, class L>
NACELLE_INLINE void draw_params(const View<E>& view, uint64_t tick, size_t env, L& lane) {
    if constexpr (any_varied<E>()) {
        lane.own = view.params;
        Rng rng(view.head.seed, Domain::parameters, tick, view.head.first_env + uint32_t(env));
        for_each_varied<E>(lane.own, [&](int slot, int k, auto& value, int number) {
            using T = bare<decltype(value)>;
            value = drawn<T>(view.head.draws[number], rng);
            static_cast<T*>(view.array[slot])[size_t(k) * view.head.envs + env] = value;
        });
    }
}

// The next episode: from a snapshot with the chance that the run asks for, else by the author's reset.
template <class E>
NACELLE_INLINE void open_episode(const View<E>& view, uint64_t tick, size_t env, Lane<E>& lane,
                                 bool first) {
    const uint32_t row = view.head.first_env + uint32_t(env);
    if constexpr (uses_episode<E>) {
        uint32_t& number = NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.number")[env];
        number = first ? 0 : number + 1;
    }
    lane.length = 0;
    bool fresh = true;
    if (view.head.pool_size) {
        Rng rng(view.head.seed, Domain::snapshots, tick, row);
        if (rng.chance(view.head.pool_chance)) {
            load_snapshot<E>(view, env, view.pool, size_t(rng.below(int(view.head.pool_size))),
                             view.head.pool_size, lane);
            fresh = false;
        }
    }
    if (fresh) {
        draw_params<E>(view, tick, env, lane);
        if constexpr (uses_episode<E>) {
            const uint32_t bits = Rng(view.head.seed, Domain::level, tick, row).bits();
            NACELLE_COLUMN(view, uint32_t, Role::episode, "episode.level")
            [env] =
                view.head.levels ? uint32_t(uint64_t(bits) * view.head.levels >> 32) : bits >> 1;
        }
        if (view.head.pool_size) NACELLE_COLUMN(view, int, Role::episode, "episode.start")[env] = 0;
#ifdef NACELLE_CHECKED
        // A field that reset() leaves out shows what was in its array: `nacelle check` compares two
        // fillings.
        load_row<E>(view.array, slot_of<E>(Role::state), env, view.head.envs, lane.state);
#endif
        Rng rng(view.head.seed, Domain::reset, tick, row);
        call_reset<E>(lane.state, lane.params(view), rng, episode_of<E>(view, tick, env, lane));
    }
    lane.running = 0;
}

}
