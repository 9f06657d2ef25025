#pragma once
#include <nacelle/device/reflect/check_team.h>
// Everything that an author can get wrong, found in order. NACELLE_ENV reports the first trouble, once,
// at the author's line; the programs are then built around a placeholder, so that nothing else is said.

namespace nacelle::detail {

template <class E> constexpr Trouble data_trouble() {
    constexpr Flaw action = part_flaw<A<E>>(spaces),
                   obs = part_flaw<O<E>>(arrays | long_lists | flat);
    if constexpr (action != Flaw::none) return at(Trouble::action, action);
    else if constexpr (obs != Flaw::none) return at(Trouble::obs, obs);
    else return shared_data_trouble<E>();
}
template <class E> constexpr Trouble functions_trouble() {
    using T = Trouble;
    if constexpr (!ResetPlain<E> && !ResetEpisode<E>) return T::reset;
    else if constexpr (!StepPlain<E> && !StepEpisode<E>) return T::step;
    else if constexpr (!ObsValue<E> && !ObsValueEpisode<E> && !ObsInto<E> && !ObsIntoEpisode<E>)
        return T::observe;
    else if constexpr (arrays_in<O<E>> > 0 && !ObsInto<E> && !ObsIntoEpisode<E>)
        return T::observe_array;
    else if constexpr (numbers_in<O<E>> > 256 && !ObsInto<E> && !ObsIntoEpisode<E>)
        return T::observe_wide;
    else if constexpr (names_mask<E> && !MasksAlone<E>) return T::mask;
    else if constexpr (names_report<E> && same<LogOf<E>, None>) return T::log_missing;
    else if constexpr (names_report<E> && !ReportsAlone<E> && !ReportsEpisode<E>) return T::report;
    else if constexpr (!same<LogOf<E>, None> && !names_report<E>) return T::log_unasked;
    else if constexpr (names_overview<E> && !OverviewsAlone<E>) return T::overview;
    else if constexpr (!same<GlobalOf<E>, None> && !names_overview<E>) return T::global_unasked;
    else if constexpr (names_draw<E> && !DrawsAlone<E>) return T::draw;
    else if constexpr (names_prepare<E> && !Prepares<E>) return T::prepare;
    else return T::none;
}
// A constant of the author's that is a whole number, at compile time, from 0 on.
template <int N> struct Whole { static constexpr bool positive = N >= 0; };
template <class E>
concept SoundLimit = !requires {
    E::time_limit;
}
|| requires { requires Whole<E::time_limit>::positive; };
template <class E>
concept SoundThreads = !requires {
    E::threads;
}
|| requires { requires Whole<E::threads>::positive; };

template <class E> constexpr Trouble trouble() {
    if constexpr (!SoundLimit<E>) return Trouble::time_limit;
    else if constexpr (!SoundThreads<E>) return Trouble::threads;
    else if constexpr (is_team<E>) return team_trouble<E>();
    else if constexpr (same<S<E>, None>) return Trouble::no_state;
    else if constexpr (same<A<E>, None>) return Trouble::no_action;
    else if constexpr (same<O<E>, None>) return Trouble::no_obs;
    else {
        constexpr Trouble data = data_trouble<E>();
        if constexpr (data != Trouble::none) return data;
        else if constexpr (sum_over<A<E>, CountEach>() == 0) return Trouble::no_action;
        else if constexpr (sum_over<O<E>, CountEach>() == 0) return Trouble::no_obs;
        else return functions_trouble<E>();
    }
}
template <class E> inline constexpr Trouble trouble_of = trouble<E>();

// Stands in for an environment with a trouble.
struct Placeholder {
    struct State {
        float x;
    };
    struct Action {
        Discrete<2> x;
    };
    struct Obs {
        float x;
    };
    static void reset(State& s, const None&, Rng&) { s.x = 0; }
    static Outcome step(State&, const Action&, const None&, Rng&) { return {}; }
    static Obs observe(const State& s, const None&) { return {s.x}; }
};
template <class E, Trouble T> struct Sound { using type = Placeholder; };
template <class E> struct Sound<E, Trouble::none> { using type = E; };

}

#define NACELLE_CHECKS(E)                                                                          \
    NACELLE_TEAM_CHECKS(E)                                                                         \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::time_limit,                                                                    \
        "time_limit must be 'static constexpr int time_limit = ...', a number of steps from 0 on") \
    NACELLE_REFUSE(E, Trouble::threads,                                                            \
                   "threads must be 'static constexpr int threads = ...', a number from 0 on")     \
    NACELLE_REFUSE(E, Trouble::no_state, "the environment needs 'struct State'")                   \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::no_action,                                                                     \
        "the environment needs 'struct Action', for example { nacelle::Discrete<2> push; }")       \
    NACELLE_REFUSE(E, Trouble::no_obs,                                                             \
                   "the environment needs 'struct Obs', the numbers that the policy sees")         \
    NACELLE_REFUSE_DATA(                                                                           \
        E, state, "State",                                                                         \
        "numbers, bools, enums, plain structs, C arrays of those, nacelle::Array<T, sizes...>",    \
        " cannot hold a Discrete, a Continuous or a Table: those belong in Action and Params")     \
    NACELLE_REFUSE_DATA(                                                                           \
        E, action, "Action",                                                                       \
        "nacelle::Discrete<N>, nacelle::Continuous<Low, High> and arrays of those",                \
        " may hold nacelle::Discrete<N>, nacelle::Continuous<Low, High> and arrays of those, and " \
        "nothing else")                                                                            \
    NACELLE_REFUSE_FLAW(E, action, space_list,                                                     \
                        "Action has an array of structs with several spaces: give each of these "  \
                        "an array of its own")                                                     \
    NACELLE_REFUSE_DATA(E, obs, "Obs",                                                             \
                        "numbers, nested structs, C arrays, nacelle::Array<T, sizes...>",          \
                        " cannot hold a Discrete, a Continuous or a Table: use numbers, and "      \
                        "nacelle::Array<T, sizes...> for images")                                  \
    NACELLE_REFUSE_DATA(                                                                           \
        E, params, "Params",                                                                       \
        "numbers, enums, nested structs, C arrays, nacelle::Table<T, sizes...>",                   \
        " cannot hold an Array or a space: large read-only data is a nacelle::Table<T, sizes...>") \
    NACELLE_REFUSE_DATA(E, log, "Log", "numbers", " may hold numbers only")                        \
    NACELLE_REFUSE_DATA(E, global, "Global", "numbers", " may hold numbers only")                  \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::params_large,                                                                  \
        "Params is larger than 32 KiB: large read-only data is a nacelle::Table<T, sizes...>")     \
    NACELLE_REFUSE(E, Trouble::reset,                                                              \
                   "needs 'static void reset(State&, const Params&, nacelle::Rng&)', with 'const " \
                   "nacelle::Episode&' at the end if wanted")                                      \
    NACELLE_REFUSE(E, Trouble::step,                                                               \
                   "needs 'static nacelle::Outcome step(State&, const Action&, const Params&, "    \
                   "nacelle::Rng&)', with 'const nacelle::Episode&' at the end if wanted")         \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::observe,                                                                       \
        "needs 'static Obs observe(const State&, const Params&)' or 'static void observe(const "   \
        "State&, const Params&, Obs&)', with 'const nacelle::Episode&' at the end if wanted")      \
    NACELLE_REFUSE(E, Trouble::observe_array,                                                      \
                   "an Obs with a nacelle::Array is filled in place: 'static void observe(const "  \
                   "State&, const Params&, Obs&)'")                                                \
    NACELLE_REFUSE(E, Trouble::observe_wide,                                                       \
                   "an Obs of more than 256 numbers is filled in place: 'static void "             \
                   "observe(const State&, const Params&, Obs&)'")                                  \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::mask,                                                                          \
        "mask must be 'static void mask(const State&, const Params&, nacelle::Mask<Action>&)'")    \
    NACELLE_REFUSE(E, Trouble::log_missing,                                                        \
                   "report needs 'struct Log', the numbers that it returns")                       \
    NACELLE_REFUSE(E, Trouble::report,                                                             \
                   "report must be 'static Log report(const State&, const Params&)', with 'const " \
                   "nacelle::Episode&' at the end if wanted")                                      \
    NACELLE_REFUSE(E, Trouble::log_unasked,                                                        \
                   "struct Log is filled by 'static Log report(const State&, const Params&)', "    \
                   "which is missing")                                                             \
    NACELLE_REFUSE(E, Trouble::overview,                                                           \
                   "overview must be 'static Global overview(const State&, const Params&)', with " \
                   "a struct Global")                                                              \
    NACELLE_REFUSE(E, Trouble::global_unasked,                                                     \
                   "struct Global is filled by 'static Global overview(const State&, const "       \
                   "Params&)', which is missing")                                                  \
    NACELLE_REFUSE(                                                                                \
        E, Trouble::draw,                                                                          \
        "draw must be 'static void draw(nacelle::Canvas&, const State&, const Params&)'")          \
    NACELLE_REFUSE(E, Trouble::prepare, "prepare must be 'static void prepare(Params&)'")
