#pragma once
// The whole of an author's API: include this, write a struct, end the file with NACELLE_ENV(Name).
#include <nacelle/view.h>

// Names the environment of this file. It defines no kernel: any number of kernels can be built around
// the struct, the engine's and anybody else's.
#define NACELLE_ENV(E)                                                                             \
    NACELLE_CHECKS(E)                                                                              \
    namespace nacelle {                                                                            \
    using Author = typename detail::Sound<::E, detail::trouble_of<::E>>::type;                     \
    namespace detail {                                                                             \
    inline constexpr auto author_schema = named_schema<Author>(#E);                                \
    }                                                                                              \
    }
