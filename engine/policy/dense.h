#pragma once
#include "engine/policy/forward.h"
// Layers of some rows at once: numbers of the same neuron lie side by side. forward.cpp compiles this text for more than
// one processor.

namespace nacelle {
namespace {

constexpr size_t lanes = 8;    // rows of one vector
typedef float RowVector __attribute__((vector_size(lanes * sizeof(float))));

NACELLE_INLINE RowVector& lanes_at(float* place) { return *reinterpret_cast<RowVector*>(place); }
NACELLE_INLINE const RowVector& lanes_at(const float* place) {
    return *reinterpret_cast<const RowVector*>(place);
}

// One instruction where the processor fuses products and sums.
template <bool fuses>
NACELLE_INLINE RowVector add_product(RowVector a, RowVector b, RowVector sum) {
    if constexpr (fuses) {
        NACELLE_UNROLL for (size_t i = 0; i < lanes; ++i) sum[i] =
            detail::fused(a[i], b[i], sum[i]);
        return sum;
    } else return a * b + sum;
}

// Some outputs of some vectors of rows: the sums stay in registers.
template <bool fuses, size_t outputs, size_t vectors>
NACELLE_INLINE void dense_part(const DenseLayer& layer, size_t first, const float* x, float* y,
                               size_t stride) {
    const float* const weights = layer.weights + first * layer.inputs;
    RowVector sum[outputs][vectors];
    NACELLE_UNROLL for (size_t o = 0; o < outputs; ++o) {
        NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v) sum[o][v] =
            RowVector{} + layer.biases[first + o];
    }
    for (size_t i = 0; i < layer.inputs; ++i) {
        RowVector in[vectors];
        NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v) in[v] =
            lanes_at(x + i * stride + v * lanes);
        NACELLE_UNROLL for (size_t o = 0; o < outputs; ++o) {
            const RowVector weight = RowVector{} + weights[o * layer.inputs + i];
            NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v) sum[o][v] =
                add_product<fuses>(weight, in[v], sum[o][v]);
        }
    }
    NACELLE_UNROLL for (size_t o = 0; o < outputs; ++o) {
        NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v)
            lanes_at(y + (first + o) * stride + v * lanes) = sum[o][v];
    }
}
// These outputs of all rows: their weights are read from memory once.
template <bool fuses, size_t outputs>
NACELLE_INLINE void dense_rows(const DenseLayer& layer, size_t first, const float* x, float* y,
                               size_t stride) {
    size_t at = 0;
    for (; at + 2 * lanes <= stride; at += 2 * lanes)
        dense_part<fuses, outputs, 2>(layer, first, x + at, y + at, stride);
    if (at < stride) dense_part<fuses, outputs, 1>(layer, first, x + at, y + at, stride);
}
template <bool fuses>
NACELLE_INLINE void dense_layer(const DenseLayer& layer, const float* x, float* y, size_t stride) {
    constexpr size_t together = 4;
    size_t o = 0;
    for (; o + together <= layer.outputs; o += together)
        dense_rows<fuses, together>(layer, o, x, y, stride);
    for (; o < layer.outputs; ++o) dense_rows<fuses, 1>(layer, o, x, y, stride);
}

template <class Curve> NACELLE_INLINE void bend(Curve, float* y, size_t count) {
    NACELLE_VECTOR_LOOP
    for (size_t i = 0; i < count; ++i) y[i] = Curve::at(y[i]);
}
NACELLE_INLINE void activate(PolicyActivation activation, float* y, size_t count) {
    detail::with_activation(activation,
                            [&](auto curve) NACELLE_INLINE_LAMBDA { bend(curve, y, count); });
}

}
}
