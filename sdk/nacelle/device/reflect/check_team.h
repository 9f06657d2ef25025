#pragma once
#include <nacelle/device/reflect/flaws.h>
// What an author of a team can get wrong, besides what check.h finds in any environment.

namespace nacelle::detail {

// A constant of the author's that is a whole number, at compile time, within bounds.
template <int N, int Least, int Most> struct Between {
    static constexpr bool holds = N >= Least && N <= Most;
};
template <class E>
concept CountsAgents = requires {
    requires Between<E::agents, 1, agents_at_most>::holds;
};
template <class G>
concept CountsMembers = requires {
    requires Between<G::count, 1, agents_at_most>::holds;
};
template <class E>
concept AnswersPolicy = requires(int id) {
    int(E::policy(id));
    typename Ints<(int(E::policy(0)), 0)>;
};

// What every member has of its own must not be a field of the author's.
template <class F> inline constexpr bool takes_members_name = requires { &F::id; }
|| requires { &F::action; }
|| requires { &F::reward; }
|| requires { &F::acts; };

template <class E, class G> constexpr Trouble group_trouble() {
    using Parts = GroupParts<E, G>;
    using Fields = typename Parts::Fields;
    using Action = typename Parts::Action;
    using Obs = typename Parts::Obs;
    if constexpr (same<Action, None>) return Trouble::no_action;
    else if constexpr (same<Obs, None>) return Trouble::no_obs;
    else {
        constexpr Flaw fields = part_flaw<Fields>(arrays), action = part_flaw<Action>(spaces),
                       obs = part_flaw<Obs>(arrays | long_lists | flat);
        if constexpr (fields != Flaw::none) return at(Trouble::agent, fields);
        else if constexpr (action != Flaw::none) return at(Trouble::action, action);
        else if constexpr (obs != Flaw::none) return at(Trouble::obs, obs);
        else if constexpr (takes_members_name<Fields>) return Trouble::member_name;
        else if constexpr (sum_over<Action, CountEach>() == 0) return Trouble::no_action;
        else if constexpr (sum_over<Obs, CountEach>() == 0) return Trouble::no_obs;
        else return Trouble::none;
    }
}
template <class E, class G> constexpr Trouble group_functions_trouble() {
    using Obs = ObsOf<E, G>;
    if constexpr (!TeamObsValue<E, G> && !TeamObsInto<E, G>) return Trouble::team_observe;
    else if constexpr ((arrays_in<Obs> > 0 || numbers_in<Obs> > 256) && !TeamObsInto<E, G>)
        return Trouble::team_observe_wide;
    else return Trouble::none;
}
// The first trouble of all groups, asked one after the other.
template <class E> constexpr Trouble groups_trouble() {
    Trouble found = Trouble::none;
    for_each_group<E>([&]<class G, int>() {
        if (found == Trouble::none) found = group_trouble<E, G>();
    });
    return found;
}
template <class E> constexpr Trouble groups_functions_trouble() {
    Trouble found = Trouble::none;
    for_each_group<E>([&]<class G, int>() {
        if (found == Trouble::none) found = group_functions_trouble<E, G>();
    });
    return found;
}
// Is the function there for any group at all?
template <class E> constexpr bool any_masks() {
    bool any = false;
    for_each_group<E>([&]<class G, int>() { any = any || TeamMasks<E, G>; });
    return any;
}
template <class E> constexpr bool any_turns() {
    bool any = false;
    for_each_group<E>([&]<class G, int>() { any = any || TeamTurns<E, G>; });
    return any;
}
template <class E> constexpr bool counts_agents() {
    if constexpr (!has_groups<E>) return CountsAgents<E>;
    else return []<class... G>(Groups<G...>) { return (CountsMembers<G> && ...); }(GroupsOf<E>{});
}
template <class T> inline constexpr bool is_groups = false;
template <class... G>
inline constexpr bool is_groups<Groups<G...>> = sizeof...(G) >= 1 && sizeof...(G) <= most_groups;

template <class E> constexpr Trouble policy_trouble() {
    using T = Trouble;
    if constexpr (!names_policies<E>) return T::none;
    else if constexpr (has_groups<E> || !AnswersPolicy<E>) return T::team_policy;
    else {
        constexpr int count = enumerators_of<typename E::Policy>();
        if (count < 1 || count > most_policies) return T::policy_count;
        for (int id = 0; id < agents_of<E>(); ++id)
            if (int(E::policy(id)) < 0 || int(E::policy(id)) >= count) return T::policy_count;
        return T::none;
    }
}
template <class E> constexpr Trouble team_functions_trouble() {
    using T = Trouble;
    if constexpr (!TeamResets<E>) return T::team_reset;
    else if constexpr (!TeamSteps<E>) return T::team_step;
    else if constexpr (groups_functions_trouble<E>() != T::none)
        return groups_functions_trouble<E>();
    else if constexpr (names_mask<E> && !any_masks<E>()) return T::team_mask;
    else if constexpr (names_turn<E> && !any_turns<E>()) return T::team_turn;
    else if constexpr (policy_trouble<E>() != T::none) return policy_trouble<E>();
    else if constexpr (names_report<E> && same<LogOf<E>, None>) return T::log_missing;
    else if constexpr (names_report<E> && !TeamReports<E>) return T::team_report;
    else if constexpr (!same<LogOf<E>, None> && !names_report<E>) return T::log_unasked;
    else if constexpr (names_overview<E> && !TeamOverviews<E>) return T::team_overview;
    else if constexpr (!same<GlobalOf<E>, None> && !names_overview<E>) return T::global_unasked;
    else if constexpr (names_draw<E> && !TeamDraws<E>) return T::team_draw;
    else if constexpr (names_prepare<E> && !Prepares<E>) return T::prepare;
    else return T::none;
}
template <class E> constexpr Trouble team_trouble() {
    using T = Trouble;
    if constexpr (has_groups<E> && requires { typename E::Agent; }) return T::agent_and_groups;
    else if constexpr (has_groups<E> && !is_groups<GroupsOf<E>>) return T::groups;
    else if constexpr (!counts_agents<E>()) return has_groups<E> ? T::group_count : T::agents;
    else if constexpr (agents_in_all<E>() > agents_at_most)
        return has_groups<E> ? T::group_count : T::agents;
    else if constexpr (groups_trouble<E>() != T::none) return groups_trouble<E>();
    else {
        constexpr Trouble data = shared_data_trouble<E>();
        if constexpr (data != T::none) return data;
        else return team_functions_trouble<E>();
    }
}

}

#define NACELLE_TEAM_CHECKS(E)                                                                     \
    NACELLE_REFUSE(E, Trouble::agent_and_groups,                                                   \
                   "a team has 'struct Agent' or 'using Agents = nacelle::Groups<...>', not both") \
    NACELLE_REFUSE(E, Trouble::groups,                                                             \
                   "Agents must be 'using Agents = nacelle::Groups<A, B>', one to four groups")    \
    NACELLE_REFUSE(E, Trouble::agents,                                                             \
                   "a team needs 'static constexpr int agents = ...', from 1 to 32768")            \
    NACELLE_REFUSE(E, Trouble::group_count,                                                        \
                   "a group needs 'static constexpr int count = ...', from 1 to 32768 over all")   \
    NACELLE_REFUSE_DATA(                                                                           \
        E, agent, "an agent's struct",                                                             \
        "numbers, bools, enums, plain structs, C arrays of those, nacelle::Array<T, sizes...>",    \
        " cannot hold a Discrete, a Continuous or a Table: those belong in Action and Params")     \
    NACELLE_REFUSE(E, Trouble::member_name,                                                        \
                   "an agent's field is called id, action, reward or acts, which every member "    \
                   "has already: choose another name")                                             \
    NACELLE_REFUSE(E, Trouble::team_reset,                                                         \
                   "a team needs 'static void reset(nacelle::Team<E>&, const Params&)'")           \
    NACELLE_REFUSE(E, Trouble::team_step,                                                          \
                   "a team needs 'static nacelle::Ending step(nacelle::Team<E>&, const Params&)'") \
    NACELLE_REFUSE(E, Trouble::team_observe,                                                       \
                   "a team needs 'static Obs observe(const Team&, const Member&, const Params&)' " \
                   "or 'static void observe(const Team&, const Member&, const Params&, Obs&)', "   \
                   "one for each group")                                                           \
    NACELLE_REFUSE(E, Trouble::team_observe_wide,                                                  \
                   "an Obs with a nacelle::Array or more than 256 numbers is filled in place: "    \
                   "'static void observe(const Team&, const Member&, const Params&, Obs&)'")       \
    NACELLE_REFUSE(E, Trouble::team_mask,                                                          \
                   "mask must be 'static void mask(const Team&, const Member&, const Params&, "    \
                   "nacelle::Mask<Action>&)'")                                                     \
    NACELLE_REFUSE(E, Trouble::team_turn,                                                          \
                   "turn must be 'static nacelle::Turn turn(const Team&, const Member&, const "    \
                   "Params&)'")                                                                    \
    NACELLE_REFUSE(E, Trouble::team_policy,                                                        \
                   "enum class Policy goes with 'static constexpr Policy policy(int id)', in a "   \
                   "team of one group; each group is a policy of its own")                         \
    NACELLE_REFUSE(E, Trouble::policy_count,                                                       \
                   "policy(id) must give one of Policy's enumerators, which are 1 to 8, from 0 "   \
                   "on without a gap")                                                             \
    NACELLE_REFUSE(E, Trouble::team_report,                                                        \
                   "report must be 'static Log report(const Team&, const Params&)'")               \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::team_overview,                                                                 \
        "overview must be 'static Global overview(const Team&, const Params&)', with a struct "    \
        "Global")                                                                                  \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::team_draw,                                                                     \
        "draw must be 'static void draw(nacelle::Canvas&, const Team&, const Params&)'")
