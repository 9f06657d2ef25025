#pragma once
#include <nacelle/device/reflect/bindings.h>
// Reflection over plain structs: how many fields, access to them, their names, their types; with no
// macro in the author's struct. Everything that depends on how a compiler spells a name is in here,
// and the canary at the end fails in this file, never in an author's.
#if defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#elif defined(__CUDACC_RTC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20044    // an object that is only ever pointed at
#endif

namespace nacelle::detail {

struct Anything {
    template <class T> constexpr operator T() const;
};
template <int> using anything = Anything;

// One brace per field, so that an array member counts once and is not elided into its elements.
template <class T, int... I>
concept Braced = requires {
    T{{anything<I>{}}...};
};
template <class T, int... I> constexpr bool accepts(Ints<I...>) { return Braced<T, I...>; }
template <class T, int N>
concept takes = accepts<T>(count_to<N>{});

// Accepting n braces means accepting fewer, so the interval is halved.
template <class T, int Low, int High> constexpr int arity_between() {
    if constexpr (Low == High) return Low;
    else {
        constexpr int middle = (Low + High + 1) / 2;
        if constexpr (takes<T, middle>) return arity_between<T, middle, High>();
        else return arity_between<T, Low, middle - 1>();
    }
}
template <class T> constexpr int arity() {
    if constexpr (takes<T, 9>) return arity_between<T, 9, most_fields + 1>();
    else return arity_between<T, 0, 8>();
}
template <class T> inline constexpr int field_count = arity<T>();

// Converts to the bases of T alone: an aggregate with a base class cannot be taken apart.
template <class T> struct BaseOf {
    template <class U>
    requires(__is_base_of(U, T) && !same<U, T>) constexpr operator U() const;
};
template <class T>
concept HasBase = requires {
    T{BaseOf<T>{}};
};

template <class T, class Fn> constexpr decltype(auto) with_fields(T& object, Fn&& fn) {
    return with_bound<field_count<bare<T>>>(object, static_cast<Fn&&>(fn));
}

template <int I> struct Index {
    static constexpr int value = I;
    constexpr operator int() const { return I; }
};
// fn(index, field) for every direct field, in order of declaration.
template <class T, class Fn> constexpr void for_each_field(T& object, Fn&& fn) {
    with_fields(object, [&](auto&... field) {
        [&]<int... I>(Ints<I...>) { (fn(Index<I>{}, field), ...); }
        (count_to<sizeof...(field)>{});
    });
}

// The types of the direct fields, in order of declaration, with their const.
template <class... T> struct Types {};
template <class T> struct Unreferenced { using type = T; };
template <class T> struct Unreferenced<T&> { using type = T; };
template <class T> T& some();
template <class T> constexpr auto list_field_types(T& object) {
    return with_fields(object, [](auto&... field) {
        return Types<typename Unreferenced<decltype(field)>::type...>{};
    });
}
template <class T> using FieldTypes = decltype(list_field_types(some<T>()));

// A text that can be built and kept at compile time.
struct Text {
    static constexpr int capacity = 96;
    char text[capacity]{};
    int size = 0;
    bool cut = false;
    constexpr int length() const { return size; }
    constexpr void add(char c) {
        if (size + 1 < capacity) text[size++] = c;
        else cut = true;
    }
    constexpr void add(const char* s) {
        for (; *s; ++s) add(*s);
    }
};
consteval bool operator==(const Text& a, const char* b) {
    int i = 0;
    for (; a.text[i] && a.text[i] == b[i]; ++i) {}
    return a.text[i] == b[i];
}

// An object that is never defined: pointers to its fields are constants with names in them.
template <class T> struct Holder { T value; };
template <class T> extern const Holder<T> phantom;
template <class P> struct FieldPointer { P pointer; };
template <class P> FieldPointer(P) -> FieldPointer<P>;

// All pointers of a struct at once: asking for them one by one costs the square of their number.
template <int I, class P> struct PointerSlot { P pointer; };
template <class I, class... P> struct Pointers;
template <int... I, class... P> struct Pointers<Ints<I...>, P...> : PointerSlot<I, P>... {};
template <class T> constexpr auto point_at_fields() {
    return with_fields(phantom<T>.value, [](auto&... f) {
        return Pointers<count_to<sizeof...(f)>, decltype(&f)...>{{&f}...};
    });
}
template <class T> inline constexpr auto pointers_to = point_at_fields<T>();
template <int I, class P> constexpr FieldPointer<P> pick(const PointerSlot<I, P>& slot) {
    return {slot.pointer};
}

// The name stands behind the last dot or colon: looked for from the end, since a compiler that evaluates
// takes its time for each character.
template <class T, FieldPointer P> consteval Text spelled_field() {
    const char* s = __PRETTY_FUNCTION__;
    int start = int(sizeof __PRETTY_FUNCTION__) - 1;
    while (start > 0 && s[start - 1] != '.' && s[start - 1] != ':') --start;
    Text name;
    for (int i = start; s[i] && s[i] != ')' && s[i] != '}' && s[i] != ']' && s[i] != '['; ++i)
        name.add(s[i]);
    return name;
}
template <class T, int I> consteval Text field_name() {
    return spelled_field<T, pick<I>(pointers_to<T>)>();
}
template <class T, int I> inline constexpr Text field_text = field_name<T, I>();

// The last part of a type's name in snake_case: Economy::StockTrader is stock_trader.
template <class T> consteval Text type_name() {
    const char* s = __PRETTY_FUNCTION__;
    int i = 0, start = 0;
    while (s[i] && !(s[i] == 'T' && s[i + 1] == ' ' && s[i + 2] == '=')) ++i;
    i += 3;
    while (s[i] == ' ') ++i;
    start = i;
    for (; s[i] && s[i] != ';' && s[i] != ']'; ++i)
        if (s[i] == ':' || s[i] == ' ') start = i + 1;
    Text name;
    for (int k = start; k < i; ++k) {
        const bool upper = s[k] >= 'A' && s[k] <= 'Z';
        if (upper && k > start) name.add('_');
        name.add(upper ? char(s[k] - 'A' + 'a') : s[k]);
    }
    return name;
}

// The name of an enumerator; empty where the enum has none of this value.
template <class T, T value> consteval Text enumerator_name() {
    const char* s = __PRETTY_FUNCTION__;
    int end = 0, start = 0;
    while (s[end]) ++end;
    while (end > 0 && s[end - 1] != ']' && s[end - 1] != '>') --end;
    --end;
    for (start = end; start > 0; --start) {
        const char c = s[start - 1];
        if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z')))
            break;
    }
    Text name;
    if (s[start] < '0' || s[start] > '9')
        for (int i = start; i < end; ++i) name.add(s[i]);
    return name;
}
// How many enumerators there are from 0 on without a gap, up to 16.
template <class T, int I = 0> consteval int enumerators_of() {
    if constexpr (I >= 16) return I;
    else if constexpr (enumerator_name<T, T(I)>().length() == 0) return I;
    else return enumerators_of<T, I + 1>();
}

enum class CanaryColour { red, green };
struct CanaryBird {
    int first;
    float second_name[3];
};
static_assert(field_count<CanaryBird> == 2 && field_name<CanaryBird, 0>() == "first" &&
                  field_name<CanaryBird, 1>() == "second_name" &&
                  type_name<CanaryBird>() == "canary_bird" &&
                  enumerator_name<CanaryColour, CanaryColour::green>() == "green" &&
                  enumerators_of<CanaryColour>() == 2,
              "nacelle/reflect.h does not understand how this compiler spells a name");

}
#if defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma clang diagnostic pop
#elif defined(__CUDACC_RTC__)
#pragma nv_diagnostic pop
#endif
