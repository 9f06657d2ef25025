#include "engine/policy/forward.h"

namespace nacelle {
namespace {

constexpr size_t lanes = 8;    // rows of one vector
typedef float Lanes __attribute__((vector_size(lanes * sizeof(float))));

NACELLE_INLINE Lanes& lanes_at(float* place) { return *reinterpret_cast<Lanes*>(place); }
NACELLE_INLINE const Lanes& lanes_at(const float* place) {
    return *reinterpret_cast<const Lanes*>(place);
}

// One instruction where the processor fuses products and sums.
template <bool fuses> NACELLE_INLINE Lanes add_product(Lanes a, Lanes b, Lanes sum) {
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
    Lanes sum[outputs][vectors];
    NACELLE_UNROLL for (size_t o = 0; o < outputs; ++o) {
        NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v) sum[o][v] =
            Lanes{} + layer.biases[first + o];
    }
    for (size_t i = 0; i < layer.inputs; ++i) {
        Lanes in[vectors];
        NACELLE_UNROLL for (size_t v = 0; v < vectors; ++v) in[v] =
            lanes_at(x + i * stride + v * lanes);
        NACELLE_UNROLL for (size_t o = 0; o < outputs; ++o) {
            const Lanes weight = Lanes{} + weights[o * layer.inputs + i];
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

// The observations side by side, normalised; rows that are not there are zero.
NACELLE_INLINE void take_in(const ForwardPass& pass, float* x) {
    const size_t inputs = pass.layers[0].inputs, stride = pass.stride();
    for (size_t k = 0; k < inputs; ++k) {
        float* const to = x + k * stride;
        for (size_t row = pass.rows; row < stride; ++row) to[row] = 0;
        if (pass.mean)
            for (size_t row = 0; row < pass.rows; ++row)
                to[row] = detail::normalised(pass.observations[row * inputs + k], pass.mean[k],
                                             pass.scale[k], pass.bound);
        else
            for (size_t row = 0; row < pass.rows; ++row)
                to[row] = pass.observations[row * inputs + k];
    }
}

template <bool fuses> NACELLE_INLINE const float* run_pass(const ForwardPass& pass) {
    const size_t stride = pass.stride();
    size_t widest = pass.layers[0].inputs;
    for (size_t l = 0; l < pass.layer_count; ++l) widest = max(widest, pass.layers[l].outputs);
    float *x = pass.scratch, *y = pass.scratch + widest * ForwardPass::most_rows;
    take_in(pass, x);
    for (size_t l = 0; l < pass.layer_count; ++l) {
        dense_layer<fuses>(pass.layers[l], x, y, stride);
        if (l + 1 < pass.layer_count) activate(pass.activation, y, pass.layers[l].outputs * stride);
        swap(x, y);
    }
    return x;
}

#if defined(__x86_64__)
// The same functions once more, for processors of the last ten years: nothing asks for -march.
__attribute__((target("avx2,fma"), flatten)) const float* pass_of_avx2(const ForwardPass& pass) {
    return run_pass<true>(pass);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

#if defined(__FP_FAST_FMAF)
constexpr bool always_fuses = true;
#else
constexpr bool always_fuses = false;
#endif

}

__attribute__((flatten)) const float* forward_anywhere(const ForwardPass& pass) {
    return run_pass<always_fuses>(pass);
}
const float* forward(const ForwardPass& pass) {
#if defined(__x86_64__)
    if (has_avx2()) return pass_of_avx2(pass);
#endif
    return forward_anywhere(pass);
}

size_t first_not_finite(const float* numbers, size_t count) {
    // Without a branch for each: all are looked at before one is looked for.
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; ++i)
        wrong |= uint32_t((detail::bits_of(numbers[i]) & 0x7f800000u) == 0x7f800000u);
    if (!wrong) return count;
    size_t i = 0;
    while ((detail::bits_of(numbers[i]) & 0x7f800000u) != 0x7f800000u) ++i;
    return i;
}

}
