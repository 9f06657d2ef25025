#pragma once
#include "engine/policy/dense.h"
// Layers that remember. The formulas are in algorithms/README.md.

namespace nacelle {
namespace {

NACELLE_INLINE float logistic(float x) { return 0.5f * tanh(0.5f * x) + 0.5f; }

// h' = h + z (c - h) of one gate after the other, and into the place of h.
NACELLE_INLINE void step_mingru(PolicyActivation activation, float* gates, const float* h, float* y,
                                size_t count) {
    activate(activation, gates + count, count);
    NACELLE_VECTOR_LOOP
    for (size_t i = 0; i < count; ++i) y[i] = h[i] + logistic(gates[i]) * (gates[count + i] - h[i]);
}
NACELLE_INLINE void step_gru(const float* gates, const float* own, const float* h, float* y,
                             size_t count) {
    NACELLE_VECTOR_LOOP
    for (size_t i = 0; i < count; ++i) {
        const float r = logistic(gates[i] + own[i]),
                    z = logistic(gates[count + i] + own[count + i]),
                    n = tanh(gates[2 * count + i] + r * own[2 * count + i]);
        y[i] = n + z * (h[i] - n);
    }
}

// From a layer's inputs x to its outputs y, which are what it remembers from now on. `memory` is the layer's place in
// that of the first row; `beside` has room for ForwardPass::beside_cell().
template <bool fuses>
NACELLE_INLINE void remember(const ForwardPass& pass, PolicyCell cell, const DenseLayer* matrix,
                             const float* x, float* y, float* beside, float* memory) {
    const size_t stride = pass.stride(), neurons = matrix->outputs / gates_of(cell),
                 count = neurons * stride;
    float *const gates = beside, *const own = gates + 3 * count, *const h = own + 3 * count;
    for (size_t j = 0; j < neurons; ++j)
        for (size_t row = 0; row < stride; ++row)
            h[j * stride + row] = row < pass.rows ? memory[row * pass.remembered + j] : 0.0f;
    dense_layer<fuses>(matrix[0], x, gates, stride);
    if (cell == PolicyCell::gru) {
        dense_layer<fuses>(matrix[1], h, own, stride);
        step_gru(gates, own, h, y, count);
    } else step_mingru(pass.activation, gates, h, y, count);
    for (size_t row = 0; row < pass.rows; ++row)
        for (size_t j = 0; j < neurons; ++j)
            memory[row * pass.remembered + j] = y[j * stride + row];
}

}
}
