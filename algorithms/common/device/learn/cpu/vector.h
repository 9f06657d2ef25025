#pragma once
#include <learn/spec.h>
// Several floats at once, as many as the processor's registers hold.

namespace learn {

#if defined(__AVX512F__)
inline constexpr int lanes = 16, most_vectors = 4;    // vectors of one block: half of the registers
#elif defined(__AVX__)
inline constexpr int lanes = 8, most_vectors = 2;
#else
inline constexpr int lanes = 4, most_vectors = 2;
#endif
typedef float Vector __attribute__((vector_size(lanes * 4)));

template <int width> inline constexpr int padded = (width + lanes - 1) / lanes* lanes;

// Compilers make one instruction of this.
NACELLE_INLINE Vector fused(Vector a, Vector b, Vector c) {
    Vector sum;
    for (int i = 0; i < lanes; ++i) sum[i] = nacelle::detail::fused(a[i], b[i], c[i]);
    return sum;
}
NACELLE_INLINE Vector& vector_at(float* place) { return *reinterpret_cast<Vector*>(place); }
NACELLE_INLINE const Vector& vector_at(const float* place) {
    return *reinterpret_cast<const Vector*>(place);
}

}
