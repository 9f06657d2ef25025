#pragma once
// The whole of an author's API: include this, write a struct, end the file with NACELLE_ENV(Name).
#include <nacelle/view.h>

// Names the environment of this file. It defines no kernel: any number of kernels can be built around
// the struct, the engine's and anybody else's.
#define NACELLE_ENV(E)                                                                             \
    NACELLE_AUTHOR(E)                                                                              \
    namespace nacelle::detail {                                                                    \
    consteval auto author_schema() { return named_schema<Author>(#E); }                            \
    }

#ifdef NACELLE_IS_SOUND    // another program around the same struct checks it
#define NACELLE_AUTHOR(E)                                                                          \
    namespace nacelle {                                                                            \
    using Author = ::E;                                                                            \
    }
#else
#define NACELLE_AUTHOR(E)                                                                          \
    NACELLE_CHECKS(E)                                                                              \
    namespace nacelle {                                                                            \
    using Author = typename detail::Sound<::E, detail::trouble_of<::E>>::type;                     \
    }
#endif
