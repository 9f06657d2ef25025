#pragma once
#include <learn/layout/spec.h>
// Which rows of a policy learn. Where it plays the past, its other rows are played by weights that it had once, and nothing
// is learnt from them: an update does not see them. Who learns where depends on the environment's number alone, so that an
// update knows its samples without a list.

namespace learn {

template <int policy> inline constexpr bool plays_past = Spec<policy>::past != Against::none;

// Of two agents of one policy the first one learns in every other environment, the second one in the others. Of two
// policies one learns in every other group of neighbours, as they share an opponent, the other one in the others.
template <int policy> NACELLE_INLINE bool learns_in(uint64_t env, int id) {
    if constexpr (Spec<policy>::past == Against::sides) return id == int(env & 1);
    else if constexpr (Spec<policy>::past == Against::roles)
        return env / opponents_together % 2 == uint64_t(policy);
    else return true;
}

// The row of an agent in its group.
template <class E, int policy>
NACELLE_INLINE uint32_t row_of_agent(const Arguments& a, uint32_t agent) {
    constexpr uint32_t in_group = uint32_t(count_of<E, GroupOf<E, policy>>);
    if constexpr (in_group == 1) return agent;
    else {
        const uint32_t agents = a.policy[policy].agents_per_env;
        if (agents == in_group) return agent;    // all of the group are its own
        return agent / agents * in_group + uint32_t(a.policy[policy].agent_ids[agent % agents]);
    }
}

// How many rows learn, and which one is the n-th of them.
template <int policy> NACELLE_INLINE uint32_t learners(const PolicyState& state) {
    if constexpr (plays_past<policy>)
        return learning_rows(Spec<policy>::past, uint32_t(policy), state.agents,
                             state.agents_per_env);
    else return state.agents;
}
template <class E, int policy> NACELLE_INLINE uint32_t learner_row(const Arguments& a, uint32_t n) {
    if constexpr (Spec<policy>::past == Against::sides) return 2 * n + (n & 1);
    else if constexpr (Spec<policy>::past == Against::roles) {
        const uint32_t each = a.policy[policy].agents_per_env, env = n / each,
                       its =
                           (env / opponents_together * 2 + uint32_t(policy)) * opponents_together +
                           env % opponents_together;
        return row_of_agent<E, policy>(a, its * each + n % each);
    } else return row_of_agent<E, policy>(a, n);
}

// Where the n-th sample of a policy's rollout lies among those of its group.
template <class E, int policy>
NACELLE_INLINE size_t place_of(const View<E>& view, const Arguments& a, uint32_t n) {
    constexpr uint32_t in_group = uint32_t(count_of<E, GroupOf<E, policy>>);
    const PolicyState& state = a.policy[policy];
    if constexpr (in_group == 1 && !plays_past<policy>) return n;
    else {
        // All of the group are its own.
        if (!plays_past<policy> && state.agents_per_env == in_group) return n;
        // A product of numbers in constant memory: loops that have no register left do not keep it in one.
        uint32_t own = view.head.envs * state.agents_per_env;
        if constexpr (plays_past<policy>) own = learners<policy>(state);
        return size_t(n / own) * group_rows<E, policy>(view) + learner_row<E, policy>(a, n % own);
    }
}
template <class E, int policy>
NACELLE_INLINE uint32_t samples_of(const View<E>&, const Arguments& a) {
    return a.steps * learners<policy>(a.policy[policy]);
}

}
