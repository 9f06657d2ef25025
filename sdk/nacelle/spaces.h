#pragma once
#include <nacelle/math.h>

namespace nacelle {

// One choice out of N. Converts to int; several in one Action make a multi-discrete space.
template <int N> struct Discrete {
    static_assert(N > 0, "a Discrete needs at least one choice");
    static constexpr int choices = N;
    int value;
    constexpr operator int() const { return value; }
};

// A real number between two bounds, which may be any numbers: Continuous<-2, 2.5>.
template <auto Low = -1, auto High = 1> struct Continuous {
    static constexpr float low = float(Low), high = float(High);
    static_assert(low < high, "the lower bound of a Continuous must lie below the upper one");
    float value;
    constexpr operator float() const { return value; }
};

// An action in a function of two or three equal types is the number that it converts to.
template <class T>
concept Space = requires(T space) {
    T{space.value};
    requires requires { T::choices; } || requires {
        T::low < T::high;
    };
};
template <Space T> constexpr auto min(T a, decltype(T::value) b) { return min(a.value, b); }
template <Space T> constexpr auto min(decltype(T::value) a, T b) { return min(a, b.value); }
template <Space T> constexpr auto max(T a, decltype(T::value) b) { return max(a.value, b); }
template <Space T> constexpr auto max(decltype(T::value) a, T b) { return max(a, b.value); }
template <Space T> constexpr auto clamp(T value, decltype(T::value) low, decltype(T::value) high) {
    return clamp(value.value, low, high);
}

}
