#pragma once
#include <learn/cpu/dense.h>
#include <learn/layout/network.h>
// A tile of samples on its way through a network's layers and back, on a CPU.

namespace learn {

// The weights in the order that dense() reads, and turned for the way back, unless null.
template <class L, int m = 0> void pack(const float* weights, float* to, float* back) {
    if constexpr (m < L::matrices) {
        constexpr int in = int(L::matrix[m].in), out = int(L::matrix[m].out), first = L::before(m);
        const float* const w = weights + first;
        float* const here = to + Packed<L>::template forward<m>();
        for (int o = 0; o < out; ++o) {
            for (int i = 0; i < in; ++i) here[i * padded<out> + o] = w[o * in + i];
            here[in * padded<out> + o] = w[out * in + o];
        }
        if constexpr (m > 0 || L::encoded)
            for (int o = 0; o < out && back; ++o)
                for (int i = 0; i < in; ++i)
                    back[Packed<L>::template backward<m>() + o * padded<in> + i] = w[o * in + i];
        pack<L, m + 1>(weights, to, back);
    }
}

// The activation of rows in their place, and what went into it where slopes need that.
template <Activation f, int stride> NACELLE_FLATTEN void bend(float* to, float* input, int n) {
    if (Curve<f>::needs_input && input)
        for (int i = 0; i < n * stride; ++i) input[i] = to[i];
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < n * stride; ++i) to[i] = Curve<f>::at(to[i]);
}
template <Activation f, int stride>
NACELLE_FLATTEN void unbend(const float* out, const float* input, float* d, int n) {
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < n * stride; ++i)
        d[i] *= Curve<f>::slope(Curve<f>::needs_input ? input[i] : 0.0f, out[i]);
}

// What `capacity` samples leave at every layer.
template <class L, int capacity, bool trains> struct Tile {
    template <int l> static constexpr int start() {
        if constexpr (l == 0) return 0;
        else return start<l - 1>() + capacity * padded<L::width[l - 1]>;
    }
    static constexpr bool keeps_input = trains && Curve<L::activation>::needs_input;
    static constexpr int size = start<L::count + 1>();

    alignas(64) float y[size];                       // of layer l, the input first
    alignas(64) float z[keeps_input ? size : 16];    // before its activation
    alignas(64) float slope[trains ? size : 16];     // of the loss along z

    float* input() { return y; }
    float* input_slope() { return slope; }    // where inputs are encoded
    float* output() { return y + start<L::count>(); }
    float* output_slope() { return slope + start<L::count>(); }

    template <int l = 0> void forward(const float* packed, int n) {
        if constexpr (l < L::count) {
            constexpr int in = L::width[l], out = L::width[l + 1];
            float* const to = y + start<l + 1>();
            dense<in, out, true>(y + start<l>(), packed + Packed<L>::template forward<l>(), to, n);
            if constexpr (l + 1 < L::count)
                bend<L::activation, padded<out>>(to, keeps_input ? z + start<l + 1>() : nullptr, n);
            forward<l + 1>(packed, n);
        }
    }
    // Adds the weights' gradient to `gradient`; n samples, whose output_slope() is set.
    template <int l = L::count - 1> void backward(const float* turned, float* gradient, int n) {
        constexpr int in = L::width[l], out = L::width[l + 1];
        gradient_of_dense<in, out>(y + start<l>(), slope + start<l + 1>(),
                                   gradient + Packed<L>::template forward<l>(), n);
        if constexpr (l > 0 || L::encoded)
            dense<out, in, false>(slope + start<l + 1>(),
                                  turned + Packed<L>::template backward<l>(), slope + start<l>(),
                                  n);
        if constexpr (l > 0) {
            unbend<L::activation, padded<in>>(
                y + start<l>(), keeps_input ? z + start<l>() : nullptr, slope + start<l>(), n);
            backward<l - 1>(turned, gradient, n);
        }
    }
};

}
