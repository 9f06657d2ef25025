#pragma once
#include <learn/cpu/streamed/arguments.h>
#include <learn/cpu/streamed/product.h>
#include <learn/formulas/critic.h>
// Where the levels of a policy's networks lie, from what is seen to the outputs and back.

namespace learn {

// Activations of numbers that lie side by side, and the way back.
template <Activation f> inline NACELLE_FLATTEN void bend_numbers(float* to, size_t count) {
    NACELLE_VECTOR_LOOP
    for (size_t i = 0; i < count; ++i) to[i] = Curve<f>::at(to[i]);
}
template <Activation f>
inline NACELLE_FLATTEN void unbend_numbers(const float* in, const float* out, float* slope,
                                           size_t count) {
    NACELLE_VECTOR_LOOP
    for (size_t i = 0; i < count; ++i) slope[i] *= Curve<f>::slope(in ? in[i] : 0.0f, out[i]);
}

// One of the policy's networks, number `network`. Panels of rows lie one behind the other in each level.
template <class E, int policy, int network> struct Levels {
    using N = Networks<E, policy>;
    using L = Either<network == 0, typename N::Actor, typename N::Critic>;
    static constexpr bool keeps_input = Curve<L::activation>::needs_input;
    static constexpr uint64_t neurons = neurons_before(L::width, L::count),
                              start = uint64_t(L::in) +
                                      (network == 0 ? 0
                                                    : level_numbers(N::Actor::width,
                                                                    N::Actor::count, keeps_input)),
                              first_parameter = network == 0 ? 0 : uint64_t(N::Actor::parameters);

    const LayerArguments& a;
    static LayerSize size(int l) { return {L::width[l], L::width[l + 1]}; }
    const float* weights(int l) const {
        return a.all.policy[policy].weights + first_parameter + L::before(l);
    }
    // Of the shard.
    float* gradient(int l) const {
        return gradient_of_shard<E, policy>(a.all.policy[policy], a.shard) + first_parameter +
               L::before(l);
    }
    // What comes out of level l, 0 for what is seen; what goes into its activation; slopes along that.
    float* out(int l) const { return l == 0 ? a.levels : of(0, l); }
    float* in(int l) const { return keeps_input ? of(2 * neurons, l) : nullptr; }
    float* slope(int l) const { return of(neurons, l); }

private:
    float* of(uint64_t which, int l) const {
        return a.levels + (start + which + neurons_before(L::width, l - 1)) * uint64_t(a.room);
    }
};
// A number of a row in panels of so many.
NACELLE_INLINE size_t in_panels(size_t row, size_t width, size_t k) {
    return (row / panel_rows * width + k) * panel_rows + row % panel_rows;
}
// The numbers of a row, k by k, from and to panels.
template <int width> NACELLE_INLINE void row_of_panels(const float* from, size_t row, float* to) {
    for (int k = 0; k < width; ++k) to[k] = from[in_panels(row, width, size_t(k))];
}
template <int width> NACELLE_INLINE void row_to_panels(float* to, size_t row, const float* from) {
    for (int k = 0; k < width; ++k) to[in_panels(row, width, size_t(k))] = from[k];
}
// Panels of what is seen of rows 0 to before `rows`, normalised; row(i) says where one lies. Rows behind the last one are
// like it.
template <int width, class Row>
NACELLE_INLINE void see(float* to, int rows, const float* mean, const float* scale, Row&& row) {
    constexpr int part = 64;    // neurons whose lines stay near while all rows come by
    for (int first = 0; first < rows; first += panel_rows) {
        decltype(row(0)) from[panel_rows];
        for (int i = 0; i < panel_rows; ++i) from[i] = row(min(first + i, rows - 1));
        float* const panel = to + size_t(first) * width;
        for (int begin = 0; begin < width; begin += part)
            for (int i = 0; i < panel_rows; ++i)
                for (int k = begin; k < min(begin + part, width); ++k)
                    panel[size_t(k) * panel_rows + size_t(i)] = number_of(from[i], k, mean, scale);
    }
}

}
