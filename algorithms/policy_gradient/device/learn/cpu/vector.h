#pragma once
#include <learn/layout/network.h>
// Several floats at once, as many as the processor's registers hold.

namespace learn {

inline constexpr int most_vectors = lanes == 16 ? 4 : 2;    // of one block: half of the registers
typedef float Vector __attribute__((vector_size(lanes * 4)));

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
