#pragma once
#include <learn/gpu/tile/tensor.h>
#include <learn/layout/blocked.h>
// The gates of a mingru where numbers have one plane: what the product of a layer leaves, and what a rollout in one launch
// finds of the same sums.

namespace learn {

struct alignas(8) Two {
    float at[2];
};
// A gate of a mingru as its recurrence needs it: the first `neurons` columns are z, the others c or, where slopes need
// that, what goes into its activation.
template <Activation f>
NACELLE_INLINE float gate_value(float x, uint32_t column, uint32_t neurons) {
    if (column < neurons) return rough_logistic(x);
    if constexpr (f == Activation::tanh) return rough_tanh(x);
    else return Curve<f>::needs_input ? x : Curve<f>::at(x);
}
// Those of a block's tiles, from tile `tile` of the columns on, go into an image of them.
template <Activation f, int quads, class Image>
NACELLE_INLINE void leave_gates(const Image& image, const float (&sum)[quads][4], const Product& p,
                                uint32_t tile) {
    if (threadIdx.x < 256) {
        const uint32_t first = tile * tile_side + 2 * (threadIdx.x % 4);
        NACELLE_UNROLL for (int q = 0; q < quads; q += 2) {
            Planes<1> gate[4];
            NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
                const int quad = q + i / 2, k = i % 2 * 2;
                const uint32_t column = first + 8 * uint32_t(quad);
                const bool there = column / tile_side < p.out.across;
                const Two more = there ? *reinterpret_cast<const Two*>(p.bias + column) : Two{};
                gate[i].at[0] =
                    pair_of(gate_value<f>(sum[quad][k] + more.at[0], column, p.gated),
                            gate_value<f>(sum[quad][k + 1] + more.at[1], column + 1, p.gated));
            }
            image.put(q, gate);
        }
    }
}

}
