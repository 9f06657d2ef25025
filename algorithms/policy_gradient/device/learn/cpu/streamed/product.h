#pragma once
#include <learn/cpu/streamed/arguments.h>
#include <learn/cpu/vector.h>
// The three products of a wide layer. Samples lie in panels of two vectors: a panel has, for each neuron, its number of
// as many samples, [neuron][panel_rows]. Weights are read as they are, [out][in]: nothing is packed when they change, and a network
// has no second copy of them. Every sum goes over inputs, outputs or samples in their order, a part of them at a time
// so that what is read again is still in the cache.

namespace learn {

inline constexpr int panel_rows = 2 * lanes;
inline constexpr int together =
    lanes == 16 ? 8 : 4;    // scalars that meet the vectors of a panel in registers
inline constexpr int product_depth = 256;    // terms of a sum at a time

// Sums of `together` scalars times two vectors, all in registers.
struct ProductSums {
    Vector at[together][2];

    // Adds `count` products: scalars of each row `step` apart, vectors of one panel after the other.
    template <int step>
    NACELLE_INLINE void add(const float* const (&scalars)[together], const float* vectors,
                            int count) {
        for (int k = 0; k < count; ++k) {
            const Vector first = vector_at(vectors + k * panel_rows),
                         second = vector_at(vectors + k * panel_rows + lanes);
            NACELLE_UNROLL for (int r = 0; r < together; ++r) {
                const Vector scalar = Vector{} + scalars[r][k * step];
                at[r][0] = fused(scalar, first, at[r][0]);
                at[r][1] = fused(scalar, second, at[r][1]);
            }
        }
    }
    // The same for the samples of a panel: scalars of `together` neighbours in it.
    NACELLE_INLINE void add_panel(const float* scalars, const float* vectors) {
        for (int n = 0; n < panel_rows; ++n) {
            const Vector first = vector_at(vectors), second = vector_at(vectors + lanes);
            NACELLE_UNROLL for (int r = 0; r < together; ++r) {
                const Vector scalar = Vector{} + scalars[r * panel_rows];
                at[r][0] = fused(scalar, first, at[r][0]);
                at[r][1] = fused(scalar, second, at[r][1]);
            }
            ++scalars;
            vectors += panel_rows;
        }
    }
    // From and to rows of a panel, `count` of them.
    NACELLE_INLINE void load(const float* from, int count) {
        NACELLE_UNROLL for (int r = 0; r < together; ++r) {
            const float* const row = from + min(r, count - 1) * panel_rows;
            at[r][0] = vector_at(row);
            at[r][1] = vector_at(row + lanes);
        }
    }
    NACELLE_INLINE void store(float* to, int count) const {
        NACELLE_UNROLL for (int r = 0; r < together; ++r) {
            if (r >= count) return;
            vector_at(to + r * panel_rows) = at[r][0];
            vector_at(to + r * panel_rows + lanes) = at[r][1];
        }
    }
    NACELLE_INLINE void fill(float x) {
        NACELLE_UNROLL for (int r = 0; r < together; ++r) at[r][0] = at[r][1] = Vector{} + x;
    }
};

// A layer of `in` inputs and `out` outputs: weight [out][in].
struct LayerSize {
    int in, out;
};

// Outputs `first` to before `end` of so many panels: y = w x + bias.
inline NACELLE_FLATTEN void forward_outputs(LayerSize size, const float* w, const float* bias,
                                            int first, int end, const float* x, float* y,
                                            int panels) {
    const size_t in = size_t(size.in), out = size_t(size.out);
    for (int k = 0; k < size.in; k += product_depth) {
        const int depth = min(size.in - k, product_depth);
        for (int o = first; o < end; o += together) {
            const int count = min(end - o, together);
            const float* rows[together];
            for (int r = 0; r < together; ++r)
                rows[r] = w + size_t(o + min(r, count - 1)) * in + size_t(k);
            for (size_t p = 0; p < size_t(panels); ++p) {
                float* const to = y + (p * out + size_t(o)) * panel_rows;
                ProductSums sum;
                if (k == 0) {
                    NACELLE_UNROLL for (int r = 0; r < together; ++r) sum.at[r][0] = sum.at[r][1] =
                        Vector{} + bias[o + min(r, count - 1)];
                } else sum.load(to, count);
                sum.add<1>(rows, x + (p * in + size_t(k)) * panel_rows, depth);
                sum.store(to, count);
            }
        }
    }
}

// Slopes along inputs `first` to before `end` from those along the outputs: to = turned w times slopes.
inline NACELLE_FLATTEN void backward_inputs(LayerSize size, const float* w, int first, int end,
                                            const float* slopes, float* to, int panels) {
    constexpr int wide = 2 * together;    // a line of the cache
    const size_t in = size_t(size.in), out = size_t(size.out);
    alignas(64) float near[product_depth * wide];
    for (int k = 0; k < size.out; k += product_depth) {
        const int depth = min(size.out - k, product_depth);
        for (int i = first; i < end; i += wide) {
            const int there = min(end - i, wide);
            for (int o = 0; o < depth; ++o) {
                const float* const from = w + size_t(k + o) * in + size_t(i);
                float* const row = near + o * wide;
                if (there == wide)
                    for (int r = 0; r < wide; ++r) row[r] = from[r];
                else
                    for (int r = 0; r < wide; ++r) row[r] = from[min(r, there - 1)];
            }
            for (int half = 0; half < there; half += together) {
                const int count = min(there - half, together);
                const float* rows[together];
                for (int r = 0; r < together; ++r) rows[r] = near + half + r;
                for (size_t p = 0; p < size_t(panels); ++p) {
                    float* const its = to + (p * in + size_t(i + half)) * panel_rows;
                    ProductSums sum;
                    if (k == 0) sum.fill(0);
                    else sum.load(its, count);
                    sum.add<wide>(rows, slopes + (p * out + size_t(k)) * panel_rows, depth);
                    sum.store(its, count);
                }
            }
        }
    }
}

// One step of turning a square of `lanes` vectors: neighbours that are `apart` swap what lies off the diagonal.
template <int apart, int... l> NACELLE_INLINE void swap_halves(Vector& a, Vector& b, Ints<l...>) {
    const Vector first = __builtin_shufflevector(a, b, (l & apart ? lanes + (l & ~apart) : l)...);
    b = __builtin_shufflevector(a, b, (l & apart ? lanes + l : l | apart)...);
    a = first;
}
template <int apart = 1> NACELLE_INLINE void turn_square(Vector (&at)[lanes]) {
    if constexpr (apart < lanes) {
        NACELLE_UNROLL for (int i = 0; i < lanes; ++i) {
            if (!(i & apart)) swap_halves<apart>(at[i], at[i + apart], count_to<lanes>{});
        }
        turn_square<2 * apart>(at);
    }
}
// What went into up to panel_rows inputs, sample by sample: [panels][sample][input].
NACELLE_INLINE void turn_inputs(const float* x, size_t in, int count, float* turned, int panels) {
    for (size_t p = 0; p < size_t(panels); ++p)
        for (int part = 0; part < 4; ++part) {
            const int first = part / 2 * lanes, sample = part % 2 * lanes;
            Vector at[lanes];
            NACELLE_UNROLL for (int i = 0; i < lanes; ++i) at[i] =
                vector_at(x + (p * in + size_t(min(first + i, count - 1))) * panel_rows + sample);
            turn_square(at);
            NACELLE_UNROLL for (int n = 0; n < lanes; ++n)
                vector_at(turned + (p * panel_rows + size_t(sample + n)) * panel_rows + first) =
                    at[n];
        }
}
// The gradient of the weights from up to panel_rows inputs, `first` and those behind it, to up to task_outputs outputs, added
// to g [out][in] or put there. Slopes are read up to `together` rows behind the last output.
inline NACELLE_FLATTEN void gradient_of_weights(LayerSize size, int first, int first_out,
                                                int end_out, const float* x, const float* slopes,
                                                float* g, int panels, bool adds) {
    constexpr int at_once = product_depth / panel_rows;
    const size_t in = size_t(size.in), out = size_t(size.out);
    const int there = min(size.in - first, panel_rows);
    alignas(64) float turned[product_depth * panel_rows], sums[task_outputs * panel_rows];
    for (int begin = 0; begin < panels; begin += at_once) {
        const int count = min(panels - begin, at_once);
        turn_inputs(x + (size_t(begin) * in + size_t(first)) * panel_rows, in, there, turned,
                    count);
        for (int o = first_out; o < end_out; o += together) {
            float* const to = sums + (o - first_out) * panel_rows;
            ProductSums sum;
            if (begin > 0) sum.load(to, together);
            else sum.fill(0);
            for (int p = 0; p < count; ++p)
                sum.add_panel(slopes + (size_t(begin + p) * out + size_t(o)) * panel_rows,
                              turned + p * panel_rows * panel_rows);
            sum.store(to, together);
        }
    }
    for (int o = first_out; o < end_out; ++o) {
        const float* const from = sums + (o - first_out) * panel_rows;
        float* const to = g + size_t(o) * in + size_t(first);
        for (int i = 0; i < there; ++i) to[i] = adds ? to[i] + from[i] : from[i];
    }
}
// The gradient of the biases of up to `together` outputs from `first` on.
inline NACELLE_FLATTEN void gradient_of_biases(LayerSize size, int first, int end,
                                               const float* slopes, float* g, int panels,
                                               bool adds) {
    const size_t out = size_t(size.out);
    for (int o = first; o < end; o += together) {
        float sum[together];
        for (int r = 0; r < together; ++r) sum[r] = adds ? g[min(o + r, end - 1)] : 0.0f;
        for (size_t p = 0; p < size_t(panels); ++p)
            for (int n = 0; n < panel_rows; ++n)
                NACELLE_UNROLL for (int r = 0; r < together; ++r) sum[r] +=
                    slopes[(p * out + size_t(o + r)) * panel_rows + size_t(n)];
        for (int r = 0; r < min(end - o, together); ++r) g[o + r] = sum[r];
    }
}

}
