#pragma once
#include <nacelle/device/reflect/check.h>
// The leaves of an author's struct as fields of the table: names, forms and places, at compile time.

namespace nacelle::detail {

// Puts a name behind the one that is there, with a dot between.
constexpr void add_name(Field& field, const char* name) {
    int n = 0;
    while (field.name[n]) ++n;
    if (n > 0 && *name && n + 1 < Text::capacity) field.name[n++] = '.';
    for (; *name && n + 1 < Text::capacity; ++name) field.name[n++] = *name;
}

// The leaves of a struct: names as paths from it on, forms, places. Made once for each struct, wherever
// it is described: templates per field are what a compiler spends its time on.
template <class T, class Value>
constexpr void describe_leaf(const Field& d, const Value& value, Field*& to);
template <class T, int I, class F>
constexpr void describe_field(const Field& proto, const F& value, uint32_t& end, Field*& to) {
    Field d = proto;
#ifndef NACELLE_NAMELESS    // a part of a program whose table is in another part
    add_name(d, field_text<T, I>.text);
#endif
    end = (end + uint32_t(alignof(F)) - 1) / uint32_t(alignof(F)) * uint32_t(alignof(F));
    d.offset += end;
    end += uint32_t(sizeof(F));
    describe_leaf<F>(d, value, to);
}
template <class T, int... I, class... F>
constexpr void describe_fields(Ints<I...>, const Field& proto, Field*& to, const F&... field) {
    uint32_t end = 0;
    (describe_field<T, I>(proto, field, end, to), ...);
}
template <class T> constexpr void describe_record(const Field& proto, const T& object, Field*& to) {
    with_fields(object, [&](auto&... field) {
        describe_fields<T>(count_to<sizeof...(field)>{}, proto, to, field...);
    });
}
template <class T, class Value>
constexpr void describe_leaf(const Field& proto, const Value& value, Field*& to) {
    if constexpr (form_of<T> == Form::list) {
        using U = typename Leaf<T>::element;
        Field d = proto;
        d.step = uint32_t(sizeof(U));
        if (d.rank < most_dims) {
            d.strides[d.rank] = d.step;
            d.dims[d.rank++] = uint32_t(Leaf<T>::count);
        }
        d.count *= uint32_t(Leaf<T>::count);
        describe_leaf<U>(d, value[0], to);
    } else if constexpr (form_of<T> == Form::record) describe_record(proto, value, to);
    else {
        using L = Leaf<T>;
        Field& d = *to++;
        d = proto;
        d.dtype = dtype_of<typename L::element>();
        d.count *= uint32_t(L::count);
        for (int i = 0; i < L::rank && d.rank < most_dims; ++i)
            d.dims[d.rank++] = uint32_t(L::dims[i]);
        if constexpr (L::form == Form::discrete) {
            d.kind = Kind::discrete;
            d.choices = T::choices;
        } else if constexpr (L::form == Form::continuous) {
            d.kind = Kind::continuous;
            d.low = T::low;
            d.high = T::high;
        } else if constexpr (L::form == Form::array) d.kind = Kind::array;
        else if constexpr (L::form == Form::table) d.kind = Kind::table;
        else d.initial = double(value);
    }
}
template <int N> struct LeafTable { Field field[N > 0 ? N : 1]{}; };
template <class T> constexpr auto list_leaves() {
    LeafTable<leaf_count<T>()> table{};
    Field proto{};
    proto.count = 1;
    Field* to = table.field;
    const T object{};
    describe_record(proto, object, to);
    return table;
}
template <class T> inline constexpr auto leaves_of = list_leaves<T>();

}
