#pragma once
#include <learn/cpu/layers.h>
// Sequences on their way through a network that remembers and back, on a CPU: a layer takes all steps of its sequences
// before the next layer begins. Row t * n + i is step t of sequence i.

namespace learn {

// What sequences remember when they begin, [n][stride], and where they forget it all, [steps][n].
struct Remembered {
    const float* first;
    const uint8_t* forgot;
    int stride;
};

template <class L> struct Sequences {
    static constexpr bool keeps_input = Curve<L::activation>::needs_input;
    template <int l> static constexpr int gates = gates_of(L::cell[l]) * L::width[l + 1];

    // Where the numbers of a level lie, for one row; all rows of a level lie side by side.
    // y: outputs of layer l - 1. z: what went into their activation. slope: along the outputs of a layer that
    // remembers, else along what went into its activation.
    static constexpr int levels_before(int l) {
        int64_t n = 0;
        for (int i = 0; i < l; ++i) n += room_for(L::width[i]);
        return int(n);
    }
    static constexpr int all_levels = levels_before(L::count + 1);
    static constexpr int cells_before(int l) {
        int64_t n = 3 * all_levels;
        for (int i = 0; i < l; ++i) n += cell_floats(L::cell[i], L::width[i + 1]);
        return int(n);
    }
    static constexpr int row_floats = cells_before(L::count);
    static_assert(row_floats == sequence_floats(L::width, L::cell, L::count));

    float* memory = nullptr;    // room for row_floats for each row
    int steps = 0, n = 0;       // n: whole samples_together

    int rows() const { return steps * n; }
    template <int l> float* y() const { return memory + size_t(levels_before(l)) * size_t(rows()); }
    template <int l> float* z() const {
        return memory + size_t(all_levels + levels_before(l)) * size_t(rows());
    }
    template <int l> float* slope() const {
        return memory + size_t(2 * all_levels + levels_before(l)) * size_t(rows());
    }
    // The k-th array of a layer that remembers.
    template <int l> float* of_cell(int k) const {
        return memory +
               (size_t(cells_before(l)) + size_t(k) * size_t(room_for(gates<l>))) * size_t(rows());
    }
    float* input() const { return y<0>(); }
    float* input_slope() const { return slope<0>(); }    // where inputs are encoded
    float* output() const { return y<L::count>(); }
    float* output_slope() const { return slope<L::count>(); }

    // What sequence i of layer l remembers at step t, or null where that is nothing.
    template <int l> const float* remembered(const Remembered& before, int t, int i) const {
        if (before.forgot[t * n + i]) return nullptr;
        if (t == 0) return before.first + i * before.stride + L::memory_before(l);
        return y<l + 1>() + ((t - 1) * n + i) * padded<L::width[l + 1]>;
    }

    template <int l = 0> void forward(const float* packed, const Remembered& before) const {
        if constexpr (l < L::count) {
            constexpr int m = L::first_matrix(l), in = L::width[l], out = L::width[l + 1];
            const float* const weights = packed + Packed<L>::template forward<m>();
            if constexpr (L::cell[l] == Cell::linear) {
                dense<in, out, true>(y<l>(), weights, y<l + 1>(), rows());
                if constexpr (l + 1 < L::count)
                    bend<L::activation, padded<out>>(y<l + 1>(), keeps_input ? z<l + 1>() : nullptr,
                                                     rows());
            } else {
                dense<in, gates<l>, true>(y<l>(), weights, of_cell<l>(0), rows());
                for (int t = 0; t < steps; ++t) {
                    if constexpr (L::cell[l] == Cell::mingru) step_mingru<l>(before, t);
                    else step_gru<l>(packed, before, t);
                }
            }
            forward<l + 1>(packed, before);
        }
    }
    // What the sequences remember behind their last step, into [n][stride].
    template <int l = 0> void leave(float* to, int stride, int count) const {
        if constexpr (l < L::count) {
            constexpr int out = L::width[l + 1];
            if constexpr (remembers(L::cell[l]))
                for (int i = 0; i < count; ++i)
                    for (int j = 0; j < out; ++j)
                        to[i * stride + L::memory_before(l) + j] =
                            y<l + 1>()[((steps - 1) * n + i) * padded<out> + j];
            leave<l + 1>(to, stride, count);
        }
    }
    // Adds the weights' gradient to `gradient`; output_slope() is set. Nothing goes back before the first step.
    template <int l = L::count - 1>
    void backward(const float* turned, float* gradient, const Remembered& before) const {
        constexpr int m = L::first_matrix(l), in = L::width[l], out = L::width[l + 1];
        const float* slopes = slope<l + 1>();
        if constexpr (L::cell[l] != Cell::linear) {
            slopes = of_cell<l>(1);
            for (int t = steps; t-- > 0;) {
                if constexpr (L::cell[l] == Cell::mingru) back_mingru<l>(before, t);
                else back_gru<l>(turned, before, t);
            }
            if constexpr (L::cell[l] == Cell::gru)
                gradient_of_dense<out, gates<l>>(of_cell<l>(4), of_cell<l>(3),
                                                 gradient + Packed<L>::template forward<m + 1>(),
                                                 rows());
        }
        gradient_of_dense<in, gates<l>>(y<l>(), slopes, gradient + Packed<L>::template forward<m>(),
                                        rows());
        if constexpr (l > 0 || L::encoded)
            dense<gates<l>, in, false>(slopes, turned + Packed<L>::template backward<m>(),
                                       slope<l>(), rows());
        if constexpr (l > 0) {
            if constexpr (L::cell[l - 1] == Cell::linear)
                unbend<L::activation, padded<in>>(y<l>(), keeps_input ? z<l>() : nullptr,
                                                  slope<l>(), rows());
            backward<l - 1>(turned, gradient, before);
        }
    }

private:
    // Where the slopes of the step before t are, which those of step t are added to; or null.
    template <int l> float* earlier(const Remembered& before, int t, int i) const {
        if (t == 0 || before.forgot[t * n + i]) return nullptr;
        return slope<l + 1>() + ((t - 1) * n + i) * padded<L::width[l + 1]>;
    }
    template <int l> void step_mingru(const Remembered& before, int t) const {
        constexpr int out = L::width[l + 1], pitch = padded<gates<l>>;
        for (int i = 0; i < n; ++i) {
            const size_t row = size_t(t * n + i);
            const float *const gate = of_cell<l>(0) + row * pitch, *const past =
                                                                       remembered<l>(before, t, i);
            float* const to = y<l + 1>() + row * padded<out>;
            NACELLE_VECTOR_LOOP
            for (int j = 0; j < out; ++j) {
                const float h = past ? past[j] : 0.0f, z = logistic(gate[j]);
                to[j] = h + z * (Curve<L::activation>::at(gate[out + j]) - h);
            }
        }
    }
    template <int l> void back_mingru(const Remembered& before, int t) const {
        using C = Curve<L::activation>;
        constexpr int out = L::width[l + 1], pitch = padded<gates<l>>;
        for (int i = 0; i < n; ++i) {
            const size_t row = size_t(t * n + i);
            const float *const gate = of_cell<l>(0) + row * pitch,
                               *const past = remembered<l>(before, t, i),
                               *const slopes = slope<l + 1>() + row * padded<out>;
            float *const to = of_cell<l>(1) + row * pitch, *const on = earlier<l>(before, t, i);
            NACELLE_VECTOR_LOOP
            for (int j = 0; j < out; ++j) {
                const float h = past ? past[j] : 0.0f, z = logistic(gate[j]), x = gate[out + j],
                            c = C::at(x), d = slopes[j];
                to[j] = d * (c - h) * z * (1 - z);
                to[out + j] = d * z * C::slope(x, c);
                if (on) on[j] += d * (1 - z);
            }
            for (int j = 2 * out; j < pitch; ++j) to[j] = 0;
        }
    }
    // Behind step t gates has r, z and n; the third part of what h adds stays as it is.
    template <int l> void step_gru(const float* packed, const Remembered& before, int t) const {
        constexpr int out = L::width[l + 1], pitch = padded<gates<l>>, m = L::first_matrix(l) + 1;
        float* const h = of_cell<l>(4) + size_t(t * n) * padded<out>;
        for (int i = 0; i < n; ++i) {
            const float* const past = remembered<l>(before, t, i);
            for (int j = 0; j < padded<out>; ++j)
                h[i * padded<out> + j] = past && j < out ? past[j] : 0.0f;
        }
        float* const more = of_cell<l>(2) + size_t(t * n) * pitch;
        dense<out, gates<l>, true>(h, packed + Packed<L>::template forward<m>(), more, n);
        for (int i = 0; i < n; ++i) {
            float* const gate = of_cell<l>(0) + size_t(t * n + i) * pitch;
            const float *const its = more + i * pitch, *const past = h + i * padded<out>;
            float* const to = y<l + 1>() + size_t(t * n + i) * padded<out>;
            NACELLE_VECTOR_LOOP
            for (int j = 0; j < out; ++j) {
                const float r = logistic(gate[j] + its[j]),
                            z = logistic(gate[out + j] + its[out + j]),
                            c = quick_tanh(gate[2 * out + j] + r * its[2 * out + j]);
                gate[j] = r;
                gate[out + j] = z;
                gate[2 * out + j] = c;
                to[j] = c + z * (past[j] - c);
            }
        }
    }
    template <int l> void back_gru(const float* turned, const Remembered& before, int t) const {
        constexpr int out = L::width[l + 1], pitch = padded<gates<l>>, m = L::first_matrix(l) + 1;
        for (int i = 0; i < n; ++i) {
            const size_t row = size_t(t * n + i);
            const float *const gate = of_cell<l>(0) + row * pitch,
                               *const more = of_cell<l>(2) + row * pitch,
                               *const h = of_cell<l>(4) + row * padded<out>,
                               *const slopes = slope<l + 1>() + row * padded<out>;
            float *const to = of_cell<l>(1) + row * pitch,
                         *const by_h = of_cell<l>(3) + row * pitch,
                         *const on = earlier<l>(before, t, i);
            NACELLE_VECTOR_LOOP
            for (int j = 0; j < out; ++j) {
                const float r = gate[j], z = gate[out + j], c = gate[2 * out + j], d = slopes[j];
                const float by_c = d * (1 - z) * (1 - c * c);
                to[j] = by_h[j] = by_c * more[2 * out + j] * r * (1 - r);
                to[out + j] = by_h[out + j] = d * (h[j] - c) * z * (1 - z);
                to[2 * out + j] = by_c;
                by_h[2 * out + j] = by_c * r;
                if (on) on[j] += d * z;
            }
            for (int j = 3 * out; j < pitch; ++j) to[j] = by_h[j] = 0;
        }
        // The slopes of this step have been read: what goes back through the matrix takes their place.
        float* const back = slope<l + 1>() + size_t(t * n) * padded<out>;
        dense<gates<l>, out, false>(of_cell<l>(3) + size_t(t * n) * pitch,
                                    turned + Packed<L>::template backward<m>(), back, n);
        for (int i = 0; i < n; ++i)
            if (float* const on = earlier<l>(before, t, i))
                for (int j = 0; j < out; ++j) on[j] += back[i * padded<out> + j];
    }
};

}
