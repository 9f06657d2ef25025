#pragma once
#include <learn/cpu/vector.h>
// The three products of a dense layer. Rows of samples lie one after the other, each padded to whole
// vectors; sums over inputs or samples go in their order, so that the bits depend on nothing else.

namespace learn {

inline constexpr int samples_together = 8;    // what counts of samples are rounded up to

template <int in, int stride_in, int stride_out, int samples, int vectors, bool bias>
NACELLE_INLINE void dense_block(const float* x, const float* w, float* y) {
    Vector sum[samples][vectors];
    NACELLE_UNROLL for (int v = 0; v < vectors; ++v) {
        const Vector first = bias ? vector_at(w + in * stride_out + v * lanes) : Vector{};
        NACELLE_UNROLL for (int s = 0; s < samples; ++s) sum[s][v] = first;
    }
    for (int i = 0; i < in; ++i) {
        NACELLE_UNROLL for (int v = 0; v < vectors; ++v) {
            const Vector weights = vector_at(w + i * stride_out + v * lanes);
            NACELLE_UNROLL for (int s = 0; s < samples; ++s) sum[s][v] =
                fused(Vector{} + x[s * stride_in + i], weights, sum[s][v]);
        }
    }
    NACELLE_UNROLL for (int s = 0; s < samples; ++s) {
        NACELLE_UNROLL for (int v = 0; v < vectors; ++v) vector_at(y + s * stride_out + v * lanes) =
            sum[s][v];
    }
}
template <int in, int stride_in, int stride_out, int first, bool bias>
NACELLE_INLINE void dense_columns(const float* x, const float* w, float* y, int n) {
    constexpr int left = stride_out / lanes - first;
    if constexpr (left > 0) {
        constexpr int vectors = left < most_vectors ? left : most_vectors;
        constexpr int samples = vectors > 2 ? 4 : 8;
        for (int s = 0; s < n; s += samples)
            dense_block<in, stride_in, stride_out, samples, vectors, bias>(
                x + s * stride_in, w + first * lanes, y + s * stride_out + first * lanes);
        dense_columns<in, stride_in, stride_out, first + vectors, bias>(x, w, y, n);
    }
}
// y [n][padded out] = x [n][padded in] times w [in][padded out], plus row `in` of w where it has one.
// n is rounded up to samples_together.
template <int in, int out, bool bias>
NACELLE_FLATTEN void dense(const float* x, const float* w, float* y, int n) {
    dense_columns<in, padded<in>, padded<out>, 0, bias>(x, w, y, n);
}

template <int stride_in, int stride_out, int inputs, int vectors>
NACELLE_INLINE void gradient_block(const float* x, const float* d, float* g, int n) {
    Vector sum[inputs][vectors];
    NACELLE_UNROLL for (int i = 0; i < inputs; ++i) {
        NACELLE_UNROLL for (int v = 0; v < vectors; ++v) sum[i][v] =
            vector_at(g + i * stride_out + v * lanes);
    }
    for (int s = 0; s < n; ++s) {
        NACELLE_UNROLL for (int v = 0; v < vectors; ++v) {
            const Vector slope = vector_at(d + s * stride_out + v * lanes);
            NACELLE_UNROLL for (int i = 0; i < inputs; ++i) sum[i][v] =
                fused(Vector{} + x[s * stride_in + i], slope, sum[i][v]);
        }
    }
    NACELLE_UNROLL for (int i = 0; i < inputs; ++i) {
        NACELLE_UNROLL for (int v = 0; v < vectors; ++v) vector_at(g + i * stride_out + v * lanes) =
            sum[i][v];
    }
}
template <int in, int stride_in, int stride_out, int first>
NACELLE_INLINE void gradient_columns(const float* x, const float* d, float* g, int n) {
    constexpr int left = stride_out / lanes - first;
    if constexpr (left > 0) {
        constexpr int vectors = left < most_vectors ? left : most_vectors;
        constexpr int whole = in / 4 * 4;
        for (int i = 0; i < whole; i += 4)
            gradient_block<stride_in, stride_out, 4, vectors>(
                x + i, d + first * lanes, g + i * stride_out + first * lanes, n);
        if constexpr (in > whole)
            gradient_block<stride_in, stride_out, in - whole, vectors>(
                x + whole, d + first * lanes, g + whole * stride_out + first * lanes, n);
        for (int v = 0; v < vectors; ++v) {
            Vector& bias = vector_at(g + in * stride_out + (first + v) * lanes);
            for (int s = 0; s < n; ++s) bias += vector_at(d + s * stride_out + (first + v) * lanes);
        }
        gradient_columns<in, stride_in, stride_out, first + vectors>(x, d, g, n);
    }
}
// g [in + 1][padded out] += x [n][padded in] turned, times d [n][padded out]; the last row for the bias.
template <int in, int out>
NACELLE_FLATTEN void gradient_of_dense(const float* x, const float* d, float* g, int n) {
    gradient_columns<in, padded<in>, padded<out>, 0>(x, d, g, n);
}

}
