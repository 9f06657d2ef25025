#pragma once
#include <nacelle/device/reflect/parts.h>
// What can be wrong with an author's structs, and how it is said: once, in one line, at his own place.

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
    long_name,
    array_element,
    table_list,
    space_list,
    many_dims
};
// flat: its numbers become one row of floats, whose dimensions nobody keeps.
enum Allowed { numbers_only = 0, arrays = 1, tables = 2, spaces = 4, long_lists = 8, flat = 16 };

// Of the leaves' names, with those of the structs that they lie in, the longest.
template <class T> constexpr int longest_name();
template <class T, int... I, class... F> constexpr int longest_of(Ints<I...>, Types<F...>) {
    int longest = 0;
    const auto look = [&](int name, int inside) {
        const int length = name + (inside ? inside + 1 : 0);
        if (length > longest) longest = length;
    };
    (look(field_text<T, I>.length(), longest_name<bare<F>>()), ...);
    return longest;
}
template <class T> constexpr int longest_name() {
    if constexpr (form_of<T> == Form::list) return longest_name<typename Leaf<T>::element>();
    else if constexpr (form_of<T> == Form::record)
        return longest_of<T>(count_to<field_count<T>>{}, FieldTypes<T>{});
    else return 0;
}
// Of a list of lists, all elements.
template <class T> constexpr int list_size() {
    if constexpr (form_of<T> == Form::list)
        return Leaf<T>::count * list_size<typename Leaf<T>::element>();
    else return 1;
}
// Of the leaves, the most dimensions: of nested lists, of structs in them, of an Array or a Table.
template <class T> constexpr int dims_in();
template <class... F> constexpr int most_dims_of(Types<F...>) {
    int most = 0;
    ((most = dims_in<bare<F>>() > most ? dims_in<bare<F>>() : most), ...);
    return most;
}
template <class T> constexpr int dims_in() {
    if constexpr (form_of<T> == Form::list) return 1 + dims_in<typename Leaf<T>::element>();
    else if constexpr (form_of<T> == Form::record) return most_dims_of(FieldTypes<T>{});
    else return Leaf<T>::rank;
}
template <class T> constexpr Flaw flaw_of(int allowed);
template <class F> constexpr Flaw flaw_of_field(int allowed) {
    if constexpr (!same<F, bare<F>>) return Flaw::constant;
    else return flaw_of<F>(allowed);
}
template <class... F> constexpr Flaw first_flaw(int allowed, Types<F...>) {
    Flaw worst = Flaw::none;
    ((worst = worst == Flaw::none ? flaw_of_field<F>(allowed) : worst), ...);
    return worst;
}
template <class T> constexpr Flaw flaw_of(int allowed) {
    constexpr Form form = form_of<T>;
    if constexpr (form == Form::list) {
        if (dims_in<T>() > most_dims && !(allowed & flat)) return Flaw::many_dims;
        if (list_size<T>() > 64 && !(allowed & long_lists)) return Flaw::long_list;
        if (sum_over<typename Leaf<T>::element, CountArrays>() > 0) return Flaw::array_list;
        if ((allowed & tables) && sum_over<typename Leaf<T>::element, CountTables>() > 0)
            return Flaw::table_list;
        // A struct's choices would lie between those of the next one, where a kernel that knows sizes alone has them side
        // by side.
        if ((allowed & spaces) && leaf_count<typename Leaf<T>::element>() > 1)
            return Flaw::space_list;
        return flaw_of<typename Leaf<T>::element>(allowed);
    } else if constexpr (__is_class(T) && form == Form::unsupported)
        return __is_aggregate(T) ? Flaw::base : Flaw::not_plain;
    else if constexpr (form == Form::unsupported) return Flaw::unsupported;
    else if constexpr (form == Form::array || form == Form::table) {
        if (!(allowed & (form == Form::array ? arrays : tables))) return Flaw::misplaced;
        if (Leaf<T>::rank > most_dims) return Flaw::many_dims;
        return form_of<typename Leaf<T>::element> == Form::number ? Flaw::none
                                                                  : Flaw::array_element;
    } else if constexpr (form == Form::discrete || form == Form::continuous)
        return allowed & spaces ? Flaw::none : Flaw::misplaced;
    else if constexpr (form == Form::record) {
        if constexpr (!requires { T{}; }) return Flaw::constant;    // a reference
        else if constexpr (field_count<T> > most_fields) return Flaw::too_many_fields;
        else {
            const Flaw worst = first_flaw(allowed, FieldTypes<T>{});
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
    agent_and_groups,
    groups,
    agents,
    group_count,
    member_name,
    team_reset,
    team_step,
    team_observe,
    team_observe_wide,
    team_mask,
    team_turn,
    team_policy,
    policy_count,
    team_report,
    team_overview,
    team_draw,
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
    global = 600,
    agent = 700
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
    template <class E> constexpr bool finds_##name() {                                             \
        if constexpr (__is_final(E)) return requires {                                             \
                &E::name;                                                                          \
            };                                                                                     \
        else return !requires {                                                                    \
                &Trap_##name<E>::name;                                                             \
            };                                                                                     \
    }                                                                                              \
    template <class E> inline constexpr bool names_##name = finds_##name<E>();
// clang-format off
NACELLE_NAMES(mask) NACELLE_NAMES(turn) NACELLE_NAMES(report)
NACELLE_NAMES(draw) NACELLE_NAMES(overview) NACELLE_NAMES(prepare)
#undef NACELLE_NAMES

template <class E> constexpr Trouble shared_data_trouble() {
    constexpr Flaw state = part_flaw<S<E>>(arrays), params = part_flaw<P<E>>(tables | long_lists),
                   log = part_flaw<LogOf<E>>(0), global = part_flaw<GlobalOf<E>>(long_lists | flat);
    if constexpr (state != Flaw::none) return at(Trouble::state, state);
    else if constexpr (params != Flaw::none) return at(Trouble::params, params);
    else if constexpr (log != Flaw::none) return at(Trouble::log, log);
    else if constexpr (global != Flaw::none) return at(Trouble::global, global);
    else if constexpr (sizeof(P<E>) > 32768) return Trouble::params_large;
    else return Trouble::none;
}
// clang-format on

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
                        Name " has a field whose name is longer than 63 characters")               \
    NACELLE_REFUSE_FLAW(E, part, array_element,                                                    \
                        Name " has an Array or a Table of structs: each holds numbers or enums, "  \
                             "so give each field of the struct one of its own")                    \
    NACELLE_REFUSE_FLAW(E, part, table_list,                                                       \
                        Name                                                                       \
                        " has a C array of nacelle::Table: give the Table one more size instead")  \
    NACELLE_REFUSE_FLAW(E, part, many_dims,                                                        \
                        Name                                                                       \
                        " has an array of more than 4 dimensions, counting the arrays of "         \
                        "structs around it: make two of them one, as in x[2 * 3] for x[2][3]")
