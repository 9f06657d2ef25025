#pragma once
#include <nacelle/device/loop/rows.h>
// The rows of a team's group where the policy works by whole warps of a GPU: a warp takes 32 at a time, a row for each
// lane. Teams that have less than a warp share it, and so do their rows.

namespace nacelle::detail {

// The row of a lane: of which agent, or of nobody.
struct WarpRow {
    size_t env;
    int id;
    bool there;
    int place;    // among those of the same warp or, of a team of several, of the team
};

template <class E, class G> struct WarpRows {
    using Group = G;
    static constexpr int lanes = Shape<E>::lanes, teams = lanes < 32 ? 32 / lanes : 1;

    const View<E>& view;
    uint64_t tick;
    int t;
    LocalTeam<E>& local;
    const float* seen;    // of all rows of the group

    // fn(row) on all lanes, in as many rounds as there are rows for, of those `agents` of each team that agent(k) names.
    // Warps of one team take them by turns.
    template <int agents, class Agent, class Fn>
    NACELLE_INLINE void by_warps(Agent&& agent, Fn&& fn) const {
        constexpr int all = teams * agents, at_once = lanes > 32 ? lanes : 32;
        const int lane = int(threadIdx.x % 32);
        NACELLE_ROLLED for (int first = lanes > 32 ? local.threads.lane - lane : 0; first < all;
                            first += at_once) {
            const int place = first + lane;
            WarpRow row{first_env() + size_t(place / agents), 0, place < all, place};
            row.there = row.there && row.env < view.head.envs;
            if (row.there) row.id = agent(place % agents);
            fn(row);
        }
    }
    NACELLE_INLINE size_t row(const WarpRow& of) const { return row_of<E, G>(of.env, of.id); }
    NACELLE_INLINE const float* obs(const WarpRow& of) const {
        return seen + row(of) * size_t(numbers_in<ObsOf<E, G>>);
    }
    NACELLE_INLINE const uint8_t* mask(const WarpRow& of) const {
        return team_mask<E, G>(view, row(of));
    }
    // Whether the agent acts now.
    NACELLE_INLINE bool acts(const WarpRow& of) const {
        return (turn_at(members_of(of), of.id) & 3) == uint8_t(Turn::acts);
    }
    // An agent that does not act now does nothing, whatever it is given.
    NACELLE_INLINE void give(const WarpRow& to, const ActionOf<E, G>& chosen) const {
        auto& members = members_of(to);
        Member<E, G>& me = member_of(members, to.id);
        begin_step<E, G>(members, me, to.id, [&] { me.action = chosen; });
    }

private:
    NACELLE_INLINE auto& members_of(const WarpRow& of) const {
        const int further = int(of.env) - int(local.env);
        return team_memory<E>(view.head, of.env, further).template group<G>();
    }
    NACELLE_INLINE size_t first_env() const {
        return lanes < 32 ? local.env - threadIdx.x % 32 / uint32_t(lanes) : local.env;
    }
};

}
