#pragma once
#include <learn/formulas/activation.h>
#include <learn/formulas/cells.h>
#include <learn/formulas/heads.h>
// The layers of a network, and where their numbers lie among the parameters.

namespace learn {

// Where the inputs come from convolutions, slopes go back to them.
template <int input, int output, Activation f, class Hidden, class Cells, int planes = 1,
          bool encoded = false>
struct Layers;
template <int input, int output, Activation f, int... h, int... c, int in_planes, bool in_encoded>
struct Layers<input, output, f, Ints<h...>, Ints<c...>, in_planes, in_encoded> {
    static_assert(sizeof...(h) == sizeof...(c));
    static constexpr Activation activation = f;
    static constexpr bool encoded = in_encoded;
    static constexpr int planes = in_planes;    // of numbers on tensor cores
    static constexpr int in = input, out = output, count = sizeof...(h) + 1;
    static constexpr int width[count + 1] = {input, h..., output};
    static constexpr Cell cell[count] = {Cell(c)..., Cell::linear};
    static constexpr int matrices = (matrices_of(Cell(c)) + ... + 1);

    // The first matrix of layer l, and what a row remembers before that layer.
    static constexpr int first_matrix(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += matrices_of(cell[i]);
        return n;
    }
    static constexpr int memory_before(int l) {
        int n = 0;
        for (int i = 0; i < l; ++i) n += remembers(cell[i]) ? width[i + 1] : 0;
        return n;
    }
    static constexpr int widest_output() {
        int most = 0;
        for (int i = 1; i <= count; ++i) most = width[i] > most ? width[i] : most;
        return most;
    }
    static constexpr int memory = memory_before(count);
    struct Sizes {
        MatrixSize at[matrices];
        constexpr const MatrixSize& operator[](int m) const { return at[m]; }
    };
    static constexpr Sizes sizes_of_all() {
        Sizes sizes{};
        for (int l = 0, m = 0; l < count; ++l)
            for (int i = 0; i < matrices_of(cell[l]); ++i)
                sizes.at[m++] = matrix_of(cell[l], i, width[l], width[l + 1]);
        return sizes;
    }
    static constexpr Sizes matrix = sizes_of_all();

    // Parameters before matrix m: weight [out][in] and bias [out] of each. (Clang 14 refuses consteval here.)
    static constexpr int before(int m) {
        int64_t n = 0;
        for (int i = 0; i < m; ++i) n += parameters_in(matrix[i]);
        return int(n);
    }
    static constexpr int parameters = before(matrices);
};

// Rows of weights and of samples are padded to whole vectors of this many floats.
#if NACELLE_GPU
inline constexpr int lanes = 4;
#elif defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif
constexpr int whole_lanes(int width) { return (width + lanes - 1) / lanes * lanes; }
template <int width> inline constexpr int padded = whole_lanes(width);

// Where matrix m begins among the packed weights: [in + 1][padded out] of each, the bias last. Gradients
// lie in the same order.
template <class L> struct Packed {
    template <int m> static constexpr int in = int(L::matrix[m].in);
    template <int m> static constexpr int out = int(L::matrix[m].out);

    template <int m> static consteval int forward() {
        if constexpr (m == 0) return 0;
        else return forward<m - 1>() + (in<m - 1> + 1) * padded<out<m - 1>>;
    }
    static constexpr int size = forward<L::matrices>();
    // The same weights turned, [out][padded in], for the way back: from the second matrix on, unless inputs are encoded.
    template <int m> static consteval int backward() {
        if constexpr (m <= (L::encoded ? 0 : 1)) return 0;
        else return backward<m - 1>() + out<m - 1> * padded<in<m - 1>>;
    }
    static constexpr int turned = backward<L::matrices>();

    // The parameter at a packed place, or -1 where there is none: rows are padded. Layouts are constants:
    // looked up at run time they would cost a GPU more than the sums do.
    template <int m = 0> static NACELLE_INLINE int parameter(int place) {
        if constexpr (m + 1 < L::matrices) {
            if (place >= forward<m + 1>()) return parameter<m + 1>(place);
        }
        constexpr int stride = padded<out<m>>, start = forward<m>(), first = L::before(m);
        const int i = (place - start) / stride, o = (place - start) % stride;
        if (o >= out<m>) return -1;
        return first + (i < in<m> ? o * in<m> + i : in<m> * out<m> + o);
    }
    // The packed place of parameter `index`.
    template <int m = 0> static NACELLE_INLINE int place(int index) {
        if constexpr (m + 1 < L::matrices) {
            constexpr int next = L::before(m + 1);
            if (index >= next) return place<m + 1>(index);
        }
        constexpr int stride = padded<out<m>>, start = forward<m>(), first = L::before(m);
        const int at = index - first;
        return at < in<m> * out<m> ? start + at % in<m> * stride + at / in<m>
                                   : start + in<m> * stride + (at - in<m> * out<m>);
    }
};

// A network that gives values alone chooses nothing.
template <class A, class S> struct NoHead : Head<A, S> {
    static constexpr int outputs = 0, first_blind = 0;
    static NACELLE_INLINE void evaluate(const float*, const uint8_t*, const float*, float&,
                                        float&) {}
    static NACELLE_INLINE void slopes(const float*, const uint8_t*, const float*, float, float,
                                      float*) {}
};
// The networks of a policy. One: choices and, behind them, the value. Two: the second one is the value's. Where a central
// critic gives the values, that is one of values alone under a number of its own, and the policy's has choices alone.
template <class E, int policy> struct Networks {
    using S = Spec<policy>;
    static constexpr bool values_alone = S::values == Values::alone,
                          values_elsewhere = S::values == Values::elsewhere;
    using H = Either<values_alone, NoHead<ChoiceOf<E, policy>, S>, Head<ChoiceOf<E, policy>, S>>;
    static constexpr bool shared = S::shared && !values_elsewhere,
                          separate = !S::shared && S::values == Values::own,
                          values_later = separate || values_alone;    // in a pass behind a rollout
    template <int outputs>
    using Behind = Layers<encoded_width_of<E, policy>, outputs, S::activation, typename S::Hidden,
                          typename S::Cells, S::planes, convolves<policy>>;
    using Actor = Behind<H::outputs + (shared ? 1 : 0)>;
    using Critic = Behind<1>;
    // Each network has its convolutions' parameters in front of its layers'.
    static constexpr int encoder = S::encoder.parameters(), first = encoder + Actor::parameters,
                         parameters = first + (separate ? encoder + Critic::parameters : 0);
    // What a row remembers from step to step, the critic's behind the actor's.
    static constexpr int memory = Actor::memory + (separate ? Critic::memory : 0);
    static constexpr bool remembers = memory > 0;
    static constexpr int value_output = H::outputs;
};

// A convolution as a layer that takes patches.
template <int policy, int l>
using PatchLayer =
    Layers<Spec<policy>::encoder.layer[l].patch(), Spec<policy>::encoder.layer[l].out,
           Spec<policy>::activation, Ints<>, Ints<>, 1, true>;
// Where the convolutions' parameters lie among the packed weights, as PatchLayers one behind the other.
template <int policy> struct PackedEncoder {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    template <int l> static consteval int forward() {
        if constexpr (l == 0) return 0;
        else return forward<l - 1>() + Packed<PatchLayer<policy, l - 1>>::size;
    }
    static constexpr int size = forward<encoder.count>();
    template <int l> static consteval int backward() {
        if constexpr (l == 0) return 0;
        else return backward<l - 1>() + Packed<PatchLayer<policy, l - 1>>::turned;
    }
    static constexpr int turned = backward<encoder.count>();
    template <int l = 0> static NACELLE_INLINE int place(int index) {
        if constexpr (l + 1 < encoder.count) {
            if (index >= encoder.before(l + 1)) return place<l + 1>(index);
        }
        return forward<l>() + Packed<PatchLayer<policy, l>>::place(index - encoder.before(l));
    }
};

// Where the gradient of a parameter lies in a slot, and back.
template <class E, int policy> struct Place {
    using N = Networks<E, policy>;
    using First = Packed<typename N::Actor>;
    using Second = Packed<typename N::Critic>;
    static constexpr int encoder = PackedEncoder<policy>::size, first = encoder + First::size,
                         size = first + (N::separate ? encoder + Second::size : 0);

    static NACELLE_INLINE int of(int index) {
        if constexpr (N::separate) {
            if (index >= N::first) return first + of_network<Second>(index - N::first);
        }
        return of_network<First>(index);
    }
    template <class P> static NACELLE_INLINE int of_network(int index) {
        if constexpr (convolves<policy>) {
            if (index < N::encoder) return PackedEncoder<policy>::place(index);
        }
        return encoder + P::place(index - N::encoder);
    }
    // Of networks without convolutions.
    static NACELLE_INLINE int parameter(int place) {
        if constexpr (N::separate) {
            if (place >= First::size) {
                const int its = Second::parameter(place - First::size);
                return its < 0 ? its : N::Actor::parameters + its;
            }
        }
        return First::parameter(place);
    }
};

// Whether a parameter is the weight of an output that does not see its inputs: it stays zero.
template <class E, int policy> NACELLE_INLINE bool is_blind(int index) {
    using N = Networks<E, policy>;
    constexpr int last = N::Actor::matrices - 1, first = N::encoder + N::Actor::before(last),
                  in = int(N::Actor::matrix[last].in);
    const int at = index - first;
    return at >= N::H::first_blind * in && at < N::H::outputs * in;
}

// An observation's number as the networks see it.
NACELLE_INLINE float normal_of(float x, float mean, float scale) {
    return clamp((x - mean) * scale, -most_normal, most_normal);
}
// Number k of a row: a code stays what it is.
template <int policy>
NACELLE_INLINE float seen_of(const float* row, int k, const float* mean, const float* scale) {
    if constexpr (Spec<policy>::encoder.codes > 0) {
        constexpr Encoder encoder = Spec<policy>::encoder;
        if (encoder.is_code(k)) return row[k];
    }
    return normal_of(row[k], mean[k], scale[k]);
}

}
