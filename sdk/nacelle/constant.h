#pragma once
#include <nacelle/platform.h>
// The JIT defines NACELLE_CONSTANTS from the configuration's env.constants: {"name", value},
#ifndef NACELLE_CONSTANTS
#define NACELLE_CONSTANTS
#endif

namespace nacelle {
namespace detail {

struct GivenConstant {
    const char* name;
    double value;
};

constexpr bool equal_text(const char* a, const char* b) {
    while (*a && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

}

// A compile-time number that JSON may set: static constexpr int taggers = nacelle::constant("taggers", 5);
template <class T> consteval T constant(const char* name, T fallback) {
    constexpr detail::GivenConstant given[] = {NACELLE_CONSTANTS{"", 0}};
    for (const auto& one : given)
        if (detail::equal_text(one.name, name)) return T(one.value);
    return fallback;
}

}
