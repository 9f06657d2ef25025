#pragma once
#include <off_policy/arguments.h>
#include <replay/rows.h>
#if NACELLE_GPU
#include <learn/gpu/dense/weights_products.h>
#include <learn/gpu/tile/put_one.h>
#else
#include <learn/cpu/streamed/levels.h>
#endif
// How a kernel writes what goes into products, and reads what came out.

namespace off_policy {

using namespace nacelle;
using namespace nacelle::detail;
// CUDA has functions of these names at global scope.
using nacelle::abs, nacelle::clamp, nacelle::exp, nacelle::log, nacelle::max, nacelle::min,
    nacelle::pow, nacelle::sqrt, nacelle::tanh;

// What goes into a product.
NACELLE_INLINE void put(const Matrix& to, size_t row, uint32_t k, float x) {
#if NACELLE_GPU
    learn::put_one<learn::Spec<0>::planes>(to.tiles, uint32_t(row), k, x);
#else
    to.floats[learn::in_panels(row, to.width, k)] = x;
#endif
}
// What came out of one.
NACELLE_INLINE float number(const Matrix& from, size_t row, uint32_t k) {
#if NACELLE_GPU
    return from.floats[row * from.width + k];
#else
    return from.floats[learn::in_panels(row, from.width, k)];
#endif
}

// A number of a row as networks see it.
NACELLE_INLINE float normal(const Arguments& a, float x, uint32_t k) {
    return a.normalises
               ? clamp((x - a.mean[k]) * a.scale[k], -learn::most_normal, learn::most_normal)
               : x;
}

}
