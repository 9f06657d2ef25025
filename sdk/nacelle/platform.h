#pragma once
// What NVRTC and a host compiler disagree on, and nothing else.
#if defined(__CUDACC_RTC__)
#define NACELLE_GPU 1
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
using size_t = decltype(sizeof(0));
#else
#include <cstddef>
#include <cstdint>
#include <initializer_list>
using std::int16_t, std::uint16_t, std::int8_t, std::uint8_t;
using std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, std::size_t;
#if defined(NACELLE_EMULATE)
#include <nacelle/device/emulate/emulate.h>    // the GPU's code path on a CPU
#define NACELLE_GPU 1
#else
#define NACELLE_GPU 0
// Empty on a CPU, so that an author's raw CUDA helpers compile.
#define __device__
#define __host__
#define __forceinline__ inline
#endif
#endif

#if defined(__CUDACC_RTC__)
#if defined(NACELLE_DRAFT)
#define NACELLE_UNROLL    // the compiler sees each body once
#else
#define NACELLE_UNROLL _Pragma("unroll")
#endif
#define NACELLE_ROLLED _Pragma("unroll 1")
#define NACELLE_TWICE _Pragma("unroll 2")
#define NACELLE_FOURFOLD _Pragma("unroll 4")
#define NACELLE_EIGHTFOLD _Pragma("unroll 8")
#else
#if defined(__clang__)
#define NACELLE_UNROLL _Pragma("unroll")
#else
#define NACELLE_UNROLL _Pragma("GCC unroll 64")
#endif
#define NACELLE_ROLLED
#define NACELLE_TWICE
#define NACELLE_FOURFOLD
#define NACELLE_EIGHTFOLD
#endif
// A draft of a GPU's program is there sooner and runs slower, with the same bits: what is large and wanted in several
// places is called there, and loops stay loops.
#if defined(__CUDACC_RTC__) && defined(NACELLE_DRAFT)
#define NACELLE_CALLED_IN_DRAFTS __attribute__((noinline))
#define NACELLE_NOINLINE_IN_DRAFTS __attribute__((noinline))
#define NACELLE_ROLLED_IN_DRAFTS NACELLE_ROLLED
namespace nacelle::detail {
inline constexpr bool gpu_draft = true;
}
#else
#define NACELLE_CALLED_IN_DRAFTS __attribute__((always_inline)) inline
#define NACELLE_NOINLINE_IN_DRAFTS    // the compiler decides elsewhere
#define NACELLE_ROLLED_IN_DRAFTS NACELLE_UNROLL
namespace nacelle::detail {
inline constexpr bool gpu_draft = false;
}
#endif
// Inlined whatever its size: the loops over environments vectorise only without calls in them.
#define NACELLE_INLINE __attribute__((always_inline)) inline
#define NACELLE_INLINE_LAMBDA __attribute__((always_inline))    // behind a lambda's parameters
#if !NACELLE_GPU
#define NACELLE_FLATTEN __attribute__((flatten, noinline))
#define NACELLE_COLD __attribute__((flatten, noinline))
#if defined(__clang__)
#define NACELLE_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define NACELLE_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#else
#define NACELLE_FLATTEN
#define NACELLE_COLD
#define NACELLE_VECTOR_LOOP
#endif

namespace nacelle::detail {

template <class A, class B> inline constexpr bool same = false;
template <class A> inline constexpr bool same<A, A> = true;

template <class T> struct Bare { using type = T; };
template <class T> struct Bare<T&> { using type = T; };
template <class T> struct Bare<const T> { using type = T; };
template <class T> struct Bare<const T&> { using type = T; };
template <class T> using bare = typename Bare<T>::type;

template <int... I> struct Ints {};
template <int N, int... I> struct Count : Count<N - 1, N - 1, I...> {};
template <int... I> struct Count<0, I...> { using type = Ints<I...>; };
template <int N> using count_to = typename Count<N>::type;

}
