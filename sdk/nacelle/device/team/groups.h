#pragma once
#include <nacelle/episode.h>
#include <nacelle/mask.h>
// Who acts in an environment: one agent, a team of equals, or groups that differ in their fields and
// perhaps in their actions and observations.

namespace nacelle {

template <class... G> struct Groups { static constexpr int count = sizeof...(G); };

template <class E> class Team;

namespace detail {

struct None {};

// The group of an environment that names none: its `agents` equals, or its one agent.
template <class E> struct Sole {};

template <class E> inline constexpr bool has_groups = requires { typename E::Agents; };
template <class E> inline constexpr bool is_team = has_groups<E> || requires { typename E::Agent; };

template <class E> struct OwnGroups { using type = Groups<Sole<E>>; };
template <class E>
requires has_groups<E>
struct OwnGroups<E> {
    using type = typename E::Agents;
};
template <class E> using GroupsOf = typename OwnGroups<E>::type;

#define NACELLE_PART(Name)                                                                         \
    template <class E> struct Own##Name { using type = None; };                                    \
    template <class E>                                                                             \
    requires requires { typename E::Name; }                                                        \
    struct Own##Name<E> {                                                                          \
        using type = typename E::Name;                                                             \
    };
// clang-format off
NACELLE_PART(State) NACELLE_PART(Params) NACELLE_PART(Agent) NACELLE_PART(Action)
NACELLE_PART(Obs) NACELLE_PART(Log) NACELLE_PART(Global)
#undef NACELLE_PART

template <class E> constexpr int agents_of() {
    if constexpr (requires { E::agents; }) return E::agents;
    else return 1;
}
// clang-format on
template <class E> constexpr int threads_of() {
    if constexpr (requires { E::threads; }) return E::threads;
    else return 0;
}
template <class G> constexpr int bins_of() {
    if constexpr (requires { G::bins; }) return G::bins;
    else return 0;
}

// What a group's agents have: their fields, how many they are, what they do and see.
template <class E, class G> struct GroupParts {
    using Fields = G;
    static constexpr int count = G::count, bins = bins_of<G>();
    template <class T> struct ActionFor { using type = typename OwnAction<E>::type; };
    template <class T>
    requires requires { typename T::Action; }
    struct ActionFor<T> {
        using type = typename T::Action;
    };
    template <class T> struct ObsFor { using type = typename OwnObs<E>::type; };
    template <class T>
    requires requires { typename T::Obs; }
    struct ObsFor<T> {
        using type = typename T::Obs;
    };
    using Action = typename ActionFor<G>::type;
    using Obs = typename ObsFor<G>::type;
};
template <class E> struct GroupParts<E, Sole<E>> {
    using Fields = typename OwnAgent<E>::type;
    static constexpr int count = agents_of<E>(), bins = bins_of<E>();
    using Action = typename OwnAction<E>::type;
    using Obs = typename OwnObs<E>::type;
};
template <class E, class G> inline constexpr int count_of = GroupParts<E, G>::count;

// fn.template operator()<G>(index) for every group.
template <class E, class Fn> NACELLE_INLINE constexpr void for_each_group(Fn&& fn) {
    [&]<class... G>(Groups<G...>) {
        [&]<int... I>(Ints<I...>) { (fn.template operator()<G, I>(), ...); }
        (count_to<sizeof...(G)>{});
    }(GroupsOf<E>{});
}
template <class E, class G> constexpr int group_index() {
    int found = -1;
    for_each_group<E>([&]<class H, int I>() {
        if (same<G, H>) found = I;
    });
    return found;
}
// Agents of all groups, of the largest one, and of those before group `index`.
template <class E> constexpr int agents_in_all() {
    int n = 0;
    for_each_group<E>([&]<class G, int>() { n += count_of<E, G>; });
    return n;
}
template <class E> constexpr int most_agents() {
    int n = 1;
    for_each_group<E>([&]<class G, int>() { n = count_of<E, G> > n ? count_of<E, G> : n; });
    return n;
}
template <class E> constexpr int agents_before(int index) {
    int n = 0;
    for_each_group<E>([&]<class G, int I>() { n += I < index ? count_of<E, G> : 0; });
    return n;
}

}

template <class E> using StateOf = typename detail::OwnState<E>::type;
template <class E> using ParamsOf = typename detail::OwnParams<E>::type;
template <class E, class G = detail::Sole<E>>
using ActionOf = typename detail::GroupParts<E, G>::Action;
template <class E, class G = detail::Sole<E>> using ObsOf = typename detail::GroupParts<E, G>::Obs;
template <class E> using LogOf = typename detail::OwnLog<E>::type;
template <class E> using GlobalOf = typename detail::OwnGlobal<E>::type;

// One agent as its own phase sees it: the fields of its group, its action, its reward. Small: teams of a
// thousand step in shared memory.
template <class E, class G = detail::Sole<E>> struct Member : detail::GroupParts<E, G>::Fields {
    using group = G;
    int16_t id;
    bool acts;    // whether the policy chose the action: what turn() said after the step before
    ActionOf<E, G> action;
    float reward;
};

namespace detail {

template <class E, class G>
concept TeamTurns = requires(const Team<E>& t, const Member<E, G>& m, const ParamsOf<E>& p) {
    requires same<decltype(E::turn(t, m, p)), Turn>;
};
template <class E, class G> inline constexpr bool has_turn = is_team<E>&& TeamTurns<E, G>;

}

}
