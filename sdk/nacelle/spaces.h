#pragma once
#include <nacelle/platform.h>

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

}
