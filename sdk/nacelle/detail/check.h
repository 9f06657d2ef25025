#pragma once
#include <nacelle/detail/parts.h>
// Everything that an author can get wrong, found in order. NACELLE_ENV reports the first trouble, once,
// at the author's line; the programs are then built around a placeholder, so that nothing else is said.

namespace nacelle::detail {

// What is wrong with a struct that should be plain data, if anything.
enum class Flaw {
    none,
    not_plain,
    base,
    too_many_fields,
    constant,
    unsupported,
    misplaced,
    long_list,
    array_list,
    long_name
};
enum Allowed { numbers_only = 0, arrays = 1, tables = 2, spaces = 4, long_lists = 8 };

// Of a field's name with those of the structs that it lies in, the longest.
template <class T> constexpr int longest_name() {
    int longest = 0;
    if constexpr (form_of<T> == Form::list) longest = longest_name<typename Leaf<T>::element>();
    else if constexpr (form_of<T> == Form::record) {
        T object{};
        for_each_field(object, [&](auto i, auto& field) {
            using F = bare<decltype(field)>;
            const int inside = longest_name<F>(),
                      length = field_name<T, i.value>().length() + (inside ? inside + 1 : 0);
            if (length > longest) longest = length;
        });
    }
    return longest;
}
// Of a list of lists, all elements.
template <class T> constexpr int list_size() {
    if constexpr (form_of<T> == Form::list)
        return Leaf<T>::count * list_size<typename Leaf<T>::element>();
    else return 1;
}
template <class T> constexpr Flaw flaw_of(int allowed) {
    constexpr Form form = form_of<T>;
    if constexpr (form == Form::list) {
        if (list_size<T>() > 64 && !(allowed & long_lists)) return Flaw::long_list;
        if (sum_over<typename Leaf<T>::element, CountArrays>() > 0) return Flaw::array_list;
        return flaw_of<typename Leaf<T>::element>(allowed);
    } else if constexpr (__is_class(T) && form == Form::unsupported)
        return __is_aggregate(T) ? Flaw::base : Flaw::not_plain;
    else if constexpr (form == Form::unsupported) return Flaw::unsupported;
    else if constexpr (form == Form::array) return allowed & arrays ? Flaw::none : Flaw::misplaced;
    else if constexpr (form == Form::table) return allowed & tables ? Flaw::none : Flaw::misplaced;
    else if constexpr (form == Form::discrete || form == Form::continuous)
        return allowed & spaces ? Flaw::none : Flaw::misplaced;
    else if constexpr (form == Form::record) {
        if constexpr (!requires { T{}; }) return Flaw::constant;    // a reference
        else if constexpr (field_count<T> > most_fields) return Flaw::too_many_fields;
        else {
            Flaw worst = Flaw::none;
            T object{};
            for_each_field(object, [&](auto, auto& field) {
                using F = decltype(field);
                if (worst != Flaw::none) return;
                if constexpr (!same<F, bare<F>&>) worst = Flaw::constant;
                else worst = flaw_of<bare<F>>(allowed);
            });
            if (worst != Flaw::none) return worst;
            return longest_name<T>() > 63 ? Flaw::long_name : Flaw::none;
        }
    } else return allowed & spaces ? Flaw::misplaced : Flaw::none;    // a bare number in an Action
}

// The same for a part of the environment: a struct, and no alias of something else.
template <class T> constexpr Flaw part_flaw(int allowed) {
    if constexpr (form_of<T> == Form::record || form_of<T> == Form::unsupported)
        return flaw_of<T>(allowed);
    else return Flaw::not_plain;
}

// One entry per flaw and struct, in the order of Flaw.
enum class Trouble : int {
    none = 0,
    no_state,
    no_action,
    no_obs,
    teams,
    time_limit,
    threads,
    reset,
    step,
    observe,
    observe_wide,
    observe_array,
    mask,
    report,
    log_missing,
    log_unasked,
    overview,
    global_unasked,
    draw,
    prepare,
    many_choices,
    params_large,
    state = 100,
    action = 200,
    obs = 300,
    params = 400,
    log = 500,
    global = 600
};
constexpr Trouble at(Trouble base, Flaw flaw) {
    return flaw == Flaw::none ? Trouble::none : Trouble(int(base) + int(flaw));
}

// Does the struct have a member of this name at all? A name that is there twice is ambiguous.
#define NACELLE_NAMES(name)                                                                        \
    struct Lure_##name {                                                                           \
        int name;                                                                                  \
    };                                                                                             \
    template <class E> struct Trap_##name : E, Lure_##name {};                                     \
    template <class E> constexpr bool has_##name() {                                               \
        if constexpr (__is_final(E)) return requires {                                             \
                &E::name;                                                                          \
            };                                                                                     \
        else return !requires {                                                                    \
                &Trap_##name<E>::name;                                                             \
            };                                                                                     \
    }                                                                                              \
    template <class E> inline constexpr bool names_##name = has_##name<E>();
NACELLE_NAMES(mask)
NACELLE_NAMES(report) NACELLE_NAMES(draw) NACELLE_NAMES(overview) NACELLE_NAMES(prepare)
#undef NACELLE_NAMES

    template <class E>
    constexpr Trouble data_trouble() {
    constexpr Flaw state = part_flaw<S<E>>(arrays), action = part_flaw<A<E>>(spaces),
                   obs = part_flaw<O<E>>(arrays | long_lists);
    constexpr Flaw params = part_flaw<P<E>>(tables | long_lists), log = part_flaw<LogOf<E>>(0),
                   global = part_flaw<GlobalOf<E>>(long_lists);
    if constexpr (state != Flaw::none) return at(Trouble::state, state);
    else if constexpr (action != Flaw::none) return at(Trouble::action, action);
    else if constexpr (obs != Flaw::none) return at(Trouble::obs, obs);
    else if constexpr (params != Flaw::none) return at(Trouble::params, params);
    else if constexpr (log != Flaw::none) return at(Trouble::log, log);
    else if constexpr (global != Flaw::none) return at(Trouble::global, global);
    else if constexpr (sizeof(P<E>) > 32768) return Trouble::params_large;
    else return Trouble::none;
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
    else if constexpr (names_mask<E> && !Masks<E>) return T::mask;
    else if constexpr (names_report<E> && same<LogOf<E>, None>) return T::log_missing;
    else if constexpr (names_report<E> && !Reports<E> && !ReportsEpisode<E>) return T::report;
    else if constexpr (!same<LogOf<E>, None> && !names_report<E>) return T::log_unasked;
    else if constexpr (names_overview<E> && !Overviews<E>) return T::overview;
    else if constexpr (!same<GlobalOf<E>, None> && !names_overview<E>) return T::global_unasked;
    else if constexpr (names_draw<E> && !Draws<E>) return T::draw;
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
    if constexpr (is_team<E>) return Trouble::teams;
    else if constexpr (!SoundLimit<E>) return Trouble::time_limit;
    else if constexpr (!SoundThreads<E>) return Trouble::threads;
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

#define NACELLE_REFUSE(E, what, words)                                                             \
    static_assert(nacelle::detail::trouble_of<E> != nacelle::detail::what, words);
#define NACELLE_REFUSE_FLAW(E, part, flaw, words)                                                  \
    NACELLE_REFUSE(E, at(nacelle::detail::Trouble::part, nacelle::detail::Flaw::flaw), words)
#define NACELLE_REFUSE_DATA(E, part, Name, types, misplaced_words)                                 \
    NACELLE_REFUSE_FLAW(                                                                           \
        E, part, not_plain,                                                                        \
        Name " must be a plain struct: no constructor, no private field, no virtual function")     \
    NACELLE_REFUSE_FLAW(E, part, base, Name " must not have a base class: make it a field")        \
    NACELLE_REFUSE_FLAW(E, part, too_many_fields,                                                  \
                        Name                                                                       \
                        " has more than 64 fields: gather some in a nested struct or an array")    \
    NACELLE_REFUSE_FLAW(                                                                           \
        E, part, constant,                                                                         \
        Name " has a const or reference field: constants belong in Params or 'static constexpr'")  \
    NACELLE_REFUSE_FLAW(E, part, unsupported,                                                      \
                        Name " has a field that cannot be stored: use " types)                     \
    NACELLE_REFUSE_FLAW(E, part, misplaced, Name misplaced_words)                                  \
    NACELLE_REFUSE_FLAW(E, part, long_list,                                                        \
                        Name " has an array of more than 64 elements: use nacelle::Array<T, "      \
                             "sizes...>, which is not copied")                                     \
    NACELLE_REFUSE_FLAW(E, part, array_list,                                                       \
                        Name                                                                       \
                        " has a C array of nacelle::Array: give the Array one more size instead")  \
    NACELLE_REFUSE_FLAW(E, part, long_name,                                                        \
                        Name " has a field whose name is longer than 63 characters")
#define NACELLE_CHECKS(E)                                                                          \
    NACELLE_REFUSE(E, Trouble::teams,                                                              \
                   "teams of agents (struct Agent, using Agents) are not in this version")         \
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
