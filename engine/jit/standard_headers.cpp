#include "engine/jit/standard_headers.h"

namespace nacelle {
namespace {

// The functions are NVRTC's own, with their overloads for float; std:: refers to them.
constexpr const char* math = R"(#pragma once
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY (__int_as_float(0x7f800000))
#define NAN (__int_as_float(0x7fc00000))
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
)";

constexpr const char* cmath = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::fmod; using ::remainder; using ::fma; using ::fmax;
using ::fmin; using ::fdim; using ::exp; using ::exp2; using ::expm1; using ::log;
using ::log10; using ::log2; using ::log1p; using ::pow; using ::sqrt; using ::cbrt;
using ::hypot; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan;
using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh;
using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma; using ::ceil;
using ::floor; using ::trunc; using ::round; using ::lround; using ::rint; using ::nearbyint;
using ::frexp; using ::ldexp; using ::modf; using ::copysign; using ::isfinite; using ::isinf;
using ::isnan; using ::signbit; using ::fabsf; using ::fmodf; using ::fmaxf; using ::fminf;
using ::expf; using ::logf; using ::powf; using ::sqrtf; using ::sinf; using ::cosf;
using ::tanf; using ::asinf; using ::acosf; using ::atanf; using ::atan2f; using ::tanhf;
using ::ceilf; using ::floorf; using ::truncf; using ::roundf;
}
)";

// The same types as nacelle/platform.h has.
constexpr const char* integers = R"(#pragma once
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
using intptr_t = long long;
using uintptr_t = unsigned long long;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
)";

constexpr const char* cstdint = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t; using ::int32_t;
using ::uint32_t; using ::int64_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;
}
)";

constexpr const char* definitions = R"(#pragma once
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype((char*)nullptr - (char*)nullptr);
#define offsetof(type, member) __INTADDR__(&((type*)nullptr)->member)
#ifndef NULL
#define NULL 0
#endif
)";

constexpr const char* cstddef = R"(#pragma once
#include <stddef.h>
namespace std {
using ::size_t; using ::ptrdiff_t;
using nullptr_t = decltype(nullptr);
}
)";

// Stops the kernel, as a failed assert stops a program.
constexpr const char* assertion = R"(#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
    ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, sizeof(char)))
#endif
)";

// NVRTC knows the type without a header.
constexpr const char* nothing = "#pragma once\n";

}

std::vector<MemoryHeader> standard_headers() {
    return {{"math.h", math},        {"cmath", cmath},          {"stdint.h", integers},
            {"cstdint", cstdint},    {"stddef.h", definitions}, {"cstddef", cstddef},
            {"assert.h", assertion}, {"cassert", assertion},    {"initializer_list", nothing}};
}

}
