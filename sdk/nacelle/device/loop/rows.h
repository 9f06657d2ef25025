#pragma once
#include <nacelle/device/episode/advance.h>
// The rows that a policy chooses for at once, as a rollout hands them to choose(rows); nacelle/rollout.h
// says what they offer.

namespace nacelle::detail {

// note_bad() for an environment with one agent, with the action in its array.
template <class E>
NACELLE_INLINE void note_bad_env(const View<E>& view, Bad what, uint64_t tick, size_t env) {
    A<E> action;
    load_row<E>(view.array, slot_of<E>(Role::action), env, view.head.envs, action);
    note_bad(view.head, what, tick, env, action);
}

// A policy that says so chooses for a warp's rows together: all its threads come along to choose(), also those
// that have no environment.
template <class Policy> inline constexpr bool chooses_by_warp = requires {
    Policy::chooses_by_warp;
};

#if NACELLE_GPU
// An environment with one agent is its thread's; where the policy works by whole warps, those of the warp's
// environments, each thread answering for its own.
template <class E, bool by_warp> struct ThreadRows {
    using Group = Sole<E>;

    const View<E>& view;
    uint64_t tick;
    int t;
    size_t env;    // may lie behind the last one
    const float* seen;
    A<E>& action;
    bool mine;    // whether it does not

    template <class Fn> NACELLE_INLINE void for_own(Fn&& fn) const {
        if (!by_warp || mine) fn(by_warp ? int(threadIdx.x % 32) : 0);
    }
    template <class Fn> NACELLE_INLINE void for_all(Fn&& fn) const { for_own(fn); }
    NACELLE_INLINE size_t row(int) const { return env; }
    NACELLE_INLINE size_t env_of(int) const { return env; }
    NACELLE_INLINE const float* obs(int) const { return seen; }
    NACELLE_INLINE const uint8_t* mask(int) const { return mask_row<E>(view, env); }
    NACELLE_INLINE void give(int, const A<E>& chosen) const { action = chosen; }
};
#else
// Environments of a block in rollout_cpu.h: their state stays in the first-level cache.
inline constexpr int block_envs = 256;

// A block of environments with one agent. What gets an action is the step itself, so that both are one loop.
template <class E, class Step> struct BlockRows {
    using Group = Sole<E>;

    const View<E>& view;
    uint64_t tick;
    int t;
    size_t first;
    int count;
    Step& step;

    template <class Fn> NACELLE_INLINE void for_own(Fn&& fn) const {
        const int end = count;    // that no store can change
        NACELLE_VECTOR_LOOP
        for (int i = 0; i < end; ++i) fn(i);
    }
    template <class Fn> NACELLE_INLINE void for_all(Fn&& fn) const { for_own(fn); }
    NACELLE_INLINE size_t row(int i) const { return first + size_t(i); }
    NACELLE_INLINE size_t env_of(int i) const { return row(i); }
    NACELLE_INLINE const float* obs(int i) const { return obs_row<E>(view, row(i)); }
    NACELLE_INLINE const uint8_t* mask(int i) const { return mask_row<E>(view, row(i)); }
    NACELLE_INLINE void give(int i, const A<E>& chosen) const { step(i, chosen); }
};
#endif

// A block of random numbers serves up to four rows of a team's group, 32 apart, as far as it has numbers for them: so a
// thread draws once for several agents.
template <class E, class G> struct RandomBlocks {
    static constexpr int parts = sum_over<ActionOf<E, G>, CountEach>(),
                         rows = parts > 2 || count_of<E, G> <= 32 ? 1 : 4 / parts, span = 32 * rows,
                         blocks = count_of<E, G> <= 32 ? count_of<E, G>
                                                       : 32 * ((count_of<E, G> + span - 1) / span);
};

// What a step begins with: no reward, and nothing done by an agent that does not act; else act() is called.
template <class E, class G, class Act>
NACELLE_INLINE void begin_step(const GroupMemory<E, G>& members, Member<E, G>& me, int id,
                               Act&& act) {
    me.reward = 0;
    const bool acts = (turn_at(members, id) & 3) == uint8_t(Turn::acts);
    if (has_turn<E, G>) me.acts = acts;    // else it has been true since the team was loaded
    if (acts) act();
    else for_each_element(me.action, [](auto, int, auto& part) { part.value = 0; });
}
template <class E, class G>
NACELLE_INLINE const uint8_t* team_mask(const View<E>& view, size_t row) {
    if constexpr (has_mask<E, G>)
        return group_column<E, uint8_t, Role::mask, group_index<E, G>()>(view) +
               row * size_t(choices_in<ActionOf<E, G>>);
    else return nullptr;
}

// Rows of one team's group: on a GPU those that share a block of random numbers, or one of them, wherever
// it lies; on a CPU 32 such blocks.
template <class E, class G> struct TeamRows {
    using Group = G;
    using Form = RandomBlocks<E, G>;

    const View<E>& view;
    uint64_t tick;
    int t;
    LocalTeam<E>& local;
    const float* seen;    // of all rows of the group
    int block;            // the first one, among the environment's
    int place = -1;       // in the memory of the team, of the one row that this is about

    NACELLE_INLINE int first() const { return block / 32 * Form::span + block % 32; }
#if NACELLE_GPU
    NACELLE_INLINE int agent(int i) const { return first() + 32 * i; }
    NACELLE_INLINE bool has(int i) const {
        if constexpr (moves<E, G>) return local.memory.template group<G>().id[place] == agent(i);
        else return agent(i) < count_of<E, G>;
    }
    template <class Fn> NACELLE_INLINE void for_all(Fn&& fn) const {
        for (int i = 0; i < Form::rows; ++i)
            if (has(i)) fn(i);
    }
    template <class Fn> NACELLE_INLINE void for_own(Fn&& fn) const {
        NACELLE_UNROLL for (int i = 0; i < Form::rows; ++i) {
            if (has(i)) begin(i, fn);
        }
    }
#else
    NACELLE_INLINE int agent(int i) const { return first() + i; }
    NACELLE_INLINE int count() const { return min(Form::span, count_of<E, G> - first()); }
    template <class Fn> NACELLE_INLINE void for_all(Fn&& fn) const {
        for (int i = 0; i < count(); ++i) fn(i);
    }
    template <class Fn> NACELLE_INLINE void for_own(Fn&& fn) const {
        for (int i = 0; i < count(); ++i) begin(i, fn);
    }
#endif
    template <class Fn> NACELLE_INLINE void begin(int i, Fn& fn) const {
        begin_step<E, G>(local.memory.template group<G>(), member(i), agent(i), [&] { fn(i); });
    }
    NACELLE_INLINE Member<E, G>& member(int i) const {
        auto& members = local.memory.template group<G>();
        if constexpr (NACELLE_GPU && moves<E, G>) return members.member[place];
        else return member_of(members, agent(i));
    }
    NACELLE_INLINE size_t row(int i) const { return row_of<E, G>(local.env, agent(i)); }
    NACELLE_INLINE size_t env_of(int) const { return local.env; }
    NACELLE_INLINE const float* obs(int i) const {
        return seen + row(i) * size_t(numbers_in<ObsOf<E, G>>);
    }
    NACELLE_INLINE const uint8_t* mask(int i) const { return team_mask<E, G>(view, row(i)); }
    NACELLE_INLINE void give(int i, const ActionOf<E, G>& chosen) const {
        member(i).action = chosen;
    }
};

}
