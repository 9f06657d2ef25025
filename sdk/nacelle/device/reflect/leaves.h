#pragma once
#include <nacelle/reflect.h>
#include <nacelle/schema.h>
#include <nacelle/spaces.h>
#include <nacelle/storage.h>
// A struct seen as a flat list of leaves: numbers, spaces and handles at any depth of nested structs
// and arrays. `pos.x` of `Vec2 pos[4]` is one leaf with 4 elements.

namespace nacelle::detail {

// By overloads: NVRTC puts each variable into the binary, also one for each pair of types.
template <class T> struct TypeTag {};
template <class T> struct IsOne {
    static consteval bool has(TypeTag<T>) { return true; }
};
template <class... T> struct IsOneOf : IsOne<T>... {
    using IsOne<T>::has...;
    static consteval bool has(...) { return false; }
};
using IsNumber =
    IsOneOf<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
            unsigned long, long long, unsigned long long, float, double>;
template <class T> inline constexpr bool is_number = IsNumber::has(TypeTag<T>{});

// By size and sign: `long` and `long long` name one type here and another there.
template <class T> constexpr Dtype number_dtype() {
    if constexpr (same<T, bool>) return Dtype::b8;
    else if constexpr (same<T, float>) return Dtype::f32;
    else if constexpr (same<T, double>) return Dtype::f64;
    else {
        constexpr bool with_sign = T(-1) < T(0);
        if constexpr (sizeof(T) == 1) return with_sign ? Dtype::i8 : Dtype::u8;
        else if constexpr (sizeof(T) == 2) return with_sign ? Dtype::i16 : Dtype::u16;
        else if constexpr (sizeof(T) == 4) return with_sign ? Dtype::i32 : Dtype::u32;
        else return with_sign ? Dtype::i64 : Dtype::u64;
    }
}
template <class T> constexpr Dtype dtype_of() {
    // Where the author names no type for an enum, compilers differ on its sign.
    if constexpr (__is_enum(T) && sizeof(T) == 4 && !requires { T{0}; }) return Dtype::i32;
    else if constexpr (__is_enum(T)) return number_dtype<__underlying_type(T)>();
    else return number_dtype<T>();
}

enum class Form { number, discrete, continuous, array, table, list, record, unsupported };
template <class T> inline constexpr bool is_record = false;
template <class T>
requires(__is_class(T)) inline constexpr bool is_record<T> = __is_aggregate(T) && !HasBase<T>;

template <class T> struct Leaf {
    using element = T;
    static constexpr Form form = is_number<T> || __is_enum(T) ? Form::number
                                 : is_record<T>               ? Form::record
                                                              : Form::unsupported;
    static constexpr int count = 1, rank = 0, dims[1] = {1};
};
template <class T, int N> struct Leaf<T[N]> {
    using element = T;
    static constexpr Form form = Form::list;
    static constexpr int count = N, rank = 0, dims[1] = {1};
};
template <int N> struct Leaf<Discrete<N>> {
    using element = int;
    static constexpr Form form = Form::discrete;
    static constexpr int count = 1, rank = 0, dims[1] = {1};
};
template <auto L, auto H> struct Leaf<Continuous<L, H>> {
    using element = float;
    static constexpr Form form = Form::continuous;
    static constexpr int count = 1, rank = 0, dims[1] = {1};
};
template <class T, int... D> struct Leaf<Array<T, D...>> {
    using element = T;
    static constexpr Form form = Form::array;
    static constexpr int count = product<D...>, rank = sizeof...(D), dims[sizeof...(D)] = {D...};
};
template <class T, int... D> struct Leaf<Table<T, D...>> {
    using element = T;
    static constexpr Form form = Form::table;
    static constexpr int count = product<D...>, rank = sizeof...(D), dims[sizeof...(D)] = {D...};
};
template <class T> inline constexpr Form form_of = Leaf<bare<T>>::form;

template <class T> constexpr int leaf_count();
template <class T> struct LeafBases { int at[most_fields + 2]{}; };
template <class T, class... F> constexpr LeafBases<T> bases_over(Types<F...>) {
    LeafBases<T> bases{};
    int i = 0;
    ((bases.at[i + 1] = bases.at[i] + leaf_count<bare<F>>(), ++i), ...);
    return bases;
}
template <class T> inline constexpr LeafBases<T> leaf_bases = bases_over<T>(FieldTypes<T>{});
template <class T> constexpr int leaf_count() {
    if constexpr (form_of<T> == Form::list) return leaf_count<typename Leaf<T>::element>();
    else if constexpr (form_of<T> == Form::record) return leaf_bases<T>.at[field_count<T>];
    else return 1;
}

template <int Base, class B, int... I, class Fn, class... F>
NACELLE_INLINE constexpr void visit_fields(Ints<I...>, int k, Fn& fn, F&... field);
// fn(Index<leaf>, number of the element, the element) for every element of every leaf.
template <int Base, class T, class Fn>
NACELLE_INLINE constexpr void visit(T& object, int k, Fn& fn) {
    using B = bare<T>;
    if constexpr (form_of<B> == Form::list) {
        // Unrolled where that keeps the object in registers; thousands would take seconds to compile.
        if constexpr (Leaf<B>::count <= 32) {
            NACELLE_UNROLL for (int i = 0; i < Leaf<B>::count; ++i)
                visit<Base>(object[i], k * Leaf<B>::count + i, fn);
        } else {
            NACELLE_ROLLED for (int i = 0; i < Leaf<B>::count; ++i)
                visit<Base>(object[i], k * Leaf<B>::count + i, fn);
        }
    } else if constexpr (form_of<B> == Form::record) {
        with_fields(object, [&](auto&... f) {
            visit_fields<Base, B>(count_to<sizeof...(f)>{}, k, fn, f...);
        });
    } else fn(Index<Base>{}, k, object);
}
template <int Base, class B, int... I, class Fn, class... F>
NACELLE_INLINE constexpr void visit_fields(Ints<I...>, int k, Fn& fn, F&... field) {
    (visit<Base + leaf_bases<B>.at[I]>(field, k, fn), ...);
}
template <class T, class Fn> NACELLE_INLINE constexpr void for_each_element(T& object, Fn&& fn) {
    visit<0>(object, 0, fn);
}

// A sum over the leaves' elements, told what one leaf counts for.
template <class T, class Weight> constexpr int sum_over();
template <class Weight, class... F> constexpr int sum_over_fields(Types<F...>) {
    return (0 + ... + sum_over<bare<F>, Weight>());
}
template <class T, class Weight> constexpr int sum_over() {
    if constexpr (form_of<T> == Form::list)
        return Leaf<T>::count * sum_over<typename Leaf<T>::element, Weight>();
    else if constexpr (form_of<T> == Form::record) return sum_over_fields<Weight>(FieldTypes<T>{});
    else return Weight::template of<T>();
}
struct CountNumbers {
    template <class T> static constexpr int of() { return form_of<T> == Form::array ? 0 : 1; }
};
struct CountArrays {
    template <class T> static constexpr int of() { return form_of<T> == Form::array ? 1 : 0; }
};
struct CountTables {
    template <class T> static constexpr int of() { return form_of<T> == Form::table ? 1 : 0; }
};
struct CountEach {
    template <class T> static constexpr int of() { return 1; }
};
struct CountInexact {
    template <class T> static constexpr int of() { return same<T, float> ? 0 : 1; }
};
struct CountChoices {
    template <class T> static constexpr int of() {
        if constexpr (form_of<T> == Form::discrete) return T::choices;
        else return 0;
    }
};
// The width of the float vector of an observation, the parts of an action, the choices of all parts.
template <class T> inline constexpr int numbers_in = sum_over<T, CountNumbers>();
template <class T> inline constexpr int arrays_in = sum_over<T, CountArrays>();
template <class T> inline constexpr int choices_in = sum_over<T, CountChoices>();
template <class T>
inline constexpr bool all_floats = sum_over<T, CountInexact>() == 0 &&
                                   sizeof(T) == 4 * numbers_in<T>;

}
