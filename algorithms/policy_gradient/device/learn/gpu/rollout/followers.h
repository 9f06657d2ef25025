#pragma once
#include <learn/formulas/chooser.h>
#include <learn/layout/fused_layout.h>
#include <nacelle/device/loop/warp_rows.h>
// Who of a team follows a policy, and what one of them does.

namespace learn {

// Who of a team follows a policy.
template <class E, int policy> struct Followers {
    static constexpr int group = Spec<policy>::group,
                         count = int(description<E>.header.policy[policy].agents);
    static constexpr int first_of_all() {
        int id = 0;
        while (policy_of<E>(group, id) != policy) ++id;
        return id;
    }
    static constexpr int first = first_of_all();
    static constexpr bool in_a_row() {
        for (int k = 1; k < count; ++k)
            if (policy_of<E>(group, first + k) != policy) return false;
        return true;
    }
    static NACELLE_INLINE int agent(const Arguments& a, int k) {
        if constexpr (in_a_row()) return first + k;
        else return int(a.policy[policy].agent_ids[k]);
    }
    static constexpr int bands =
        bands_of_team(Shape<E>::lanes, count);    // that a warp has at once
};
// What a row does, by its network's outputs or, without any, at random; and what is written down of that.
template <class E, int policy, class Rows>
NACELLE_INLINE void decide(const Arguments& a, Rows& rows, const WarpRow& row, const float* out) {
    using C = Chooser<E, policy>;
    float choice[C::H::parts];
    C::draw(rows.view, a, uint32_t(rows.t), rows.tick, rows.row(row), out, choice);
    ActionOf<E, typename C::G> action;
    C::H::act(choice, action);
    rows.give(row, action);
}

}
