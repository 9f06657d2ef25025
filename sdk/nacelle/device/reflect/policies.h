#pragma once
#include <nacelle/team.h>
// Which network decides for an agent of a team: that which the configuration names, else that of the author's Policy,
// else that of its group.
//
// The JIT defines NACELLE_POLICIES from the configuration's env.policies: "red", "blue", and NACELLE_ASSIGNED: {policy,
// first agent, last agent, step}, agents counted over all groups. The engine has checked that no agent has two, and
// checks the table of fields for the others.
#ifndef NACELLE_POLICIES
#define NACELLE_POLICIES
#define NACELLE_ASSIGNED
#endif

namespace nacelle::detail {

// Every `step`-th agent from the first to the last.
struct AssignedAgents {
    int policy, first, last, step;
};
inline constexpr const char* assigned_names[] = {NACELLE_POLICIES nullptr};
inline constexpr AssignedAgents assigned_agents[] = {NACELLE_ASSIGNED{0, 0, -1, 1}};
inline constexpr int assigned_policies = int(sizeof assigned_names / sizeof *assigned_names) - 1,
                     assignments = int(sizeof assigned_agents / sizeof *assigned_agents) - 1;

// The policy of one assignment if it has the agent, else what was found before. Its numbers become constants of the
// code: a kernel cannot read a table of the host's.
template <int i> NACELLE_INLINE constexpr int policy_or(int agent, int before) {
    constexpr AssignedAgents one = assigned_agents[i];
    const bool has = agent >= one.first && agent <= one.last && (agent - one.first) % one.step == 0;
    return has ? one.policy : before;
}
NACELLE_INLINE constexpr int assigned_policy(int agent) {
    int policy = 0;
    [&]<int... i>(Ints<i...>) { ((policy = policy_or<i>(agent, policy)), ...); }
    (count_to<assignments>{});
    return policy;
}

template <class E> inline constexpr bool is_assigned_to = is_team<E>&& assigned_policies > 0;
template <class E> inline constexpr bool names_policies = requires { typename E::Policy; };
// Whether a group's agents may follow several.
template <class E> inline constexpr bool has_policies = is_assigned_to<E> || names_policies<E>;

template <class E> constexpr int policy_count() {
    if constexpr (is_assigned_to<E>) return assigned_policies;
    else if constexpr (names_policies<E>) return enumerators_of<typename E::Policy>();
    else return GroupsOf<E>::count;
}
template <class E> NACELLE_INLINE constexpr int policy_of(int group, int id) {
    if constexpr (is_assigned_to<E>) return assigned_policy(agents_before<E>(group) + id);
    else if constexpr (names_policies<E>) return int(E::policy(id));
    else return group;
}

}
