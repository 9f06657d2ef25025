#pragma once
#include <learn/formulas/past.h>
#include <learn/gpu/dense/layers.h>
#include <learn/layout/conv_tiles.h>
// Where the weights of a policy's networks lie for its kernels, and how they come there.

namespace learn {

// Of networks whose layers go through memory: tiles, then biases.
template <class L> struct TiledOrder {
    static constexpr int planes = L::planes,
                         size = int(tiled_words(L::matrix, L::matrices, planes)),
                         biases = int(tiled_weights_before(L::matrix, L::matrices, planes) / 2);

    template <int m = 0> static NACELLE_INLINE void store(float* to, int index, float value) {
        if constexpr (m + 1 < L::matrices) {
            constexpr int next = L::before(m + 1);
            if (index >= next) return store<m + 1>(to, index, value);
        }
        constexpr int in = int(L::matrix[m].in), out = int(L::matrix[m].out), first = L::before(m);
        constexpr uint64_t start = tiled_weights_before(L::matrix, m, planes),
                           plane = uint64_t(tiles_along(out)) * tiles_along(in) * tile_numbers;
        const int at = index - first;
        if (at >= in * out) {
            to[biases + int(tiled_biases_before(L::matrix, m)) + at - in * out] = value;
            return;
        }
        const auto pair = planes_of<planes>(value, 0.0f);
        uint16_t* const place =
            reinterpret_cast<uint16_t*>(to) + start +
            place_in_tiles(uint64_t(at / in), uint32_t(at % in), tiles_along(in));
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) place[size_t(p) * plane] =
            uint16_t(pair.at[p]);
    }
};
// Of convolutions: fragments for both ways, and biases; conv_tiles.h says where.
template <int policy> struct ConvOrder {
    static constexpr Encoder encoder = Spec<policy>::encoder;
    static constexpr int planes = Spec<policy>::planes,
                         size = encoder.count ? conv_words(encoder, planes) : 0;

    template <int l = 0> static NACELLE_INLINE void store(float* to, int index, float value) {
        if constexpr (l + 1 < encoder.count) {
            if (index >= encoder.before(l + 1)) return store<l + 1>(to, index, value);
        }
        constexpr Convolution c = encoder.layer[l];
        float* const here = to + conv_words_before(encoder, l, planes);
        const int at = index - encoder.before(l);
        if (at >= c.patch() * c.out) {
            here[conv_biases_at(c, planes) + at - c.patch() * c.out] = value;
            return;
        }
        const int o = at / c.patch(), number = at % c.patch(), channel = number % c.channels,
                  column = number / c.channels % c.size_columns,
                  row = number / c.channels / c.size_columns;
        constexpr ConvProduct forward = forward_of(c), backward = backward_of(c);
        store_in<forward>(here, 0, (row * c.size_columns + column) * forward.pixel() + channel, o,
                          value);
        if constexpr (l > 0) {
            constexpr ConvSide rows = backward.rows, columns = backward.columns;
            const int down = rows.phase_of(row), right = columns.phase_of(column),
                      tap = rows.turned(row) * columns.taps(right) + columns.turned(column);
            store_in<backward>(here + conv_turned_at(c, planes), down * columns.phases + right,
                               tap * backward.pixel() + o, channel, value);
        }
    }

private:
    template <ConvProduct product>
    static NACELLE_INLINE void store_in(float* to, int phase, int k, int o, float value) {
        const auto pair = planes_of<planes>(value, 0.0f);
        uint16_t* const place =
            reinterpret_cast<uint16_t*>(to) + product.place(phase, k, o, planes);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) place[product.pair_numbers * p] =
            uint16_t(pair.at[p]);
    }
};
template <class E, int policy> struct Prepared {
    using N = Networks<E, policy>;
    template <class L> using Order = Either<Spec<policy>::streamed, TiledOrder<L>, FusedOrder<L>>;
    using ActorOrder = Order<typename N::Actor>;
    using CriticOrder = Order<typename N::Critic>;
    // A network's convolutions lie in front of its layers.
    static constexpr int encoder = ConvOrder<policy>::size,
                         critic = int(second_network_at(uint64_t(encoder + ActorOrder::size)));

    static NACELLE_INLINE void store(float* to, int index, float value) {
        if (!N::separate || index < N::first) store_in<ActorOrder>(to, index, value);
        else store_in<CriticOrder>(to + critic, index - N::first, value);
    }

private:
    template <class Layers> static NACELLE_INLINE void store_in(float* to, int index, float value) {
        if constexpr (convolves<policy>) {
            if (index < N::encoder) return ConvOrder<policy>::store(to, index, value);
        }
        Layers::store(to + encoder, index - N::encoder, value);
    }
};
template <class E, int policy>
NACELLE_INLINE void prepare(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(Networks<E, policy>::parameters));
         ++i)
        Prepared<E, policy>::store(state.prepared, int(i), state.weights[i]);
}
// Of members of the past that are new, or that a checkpoint brought.
template <class E, int policy>
NACELLE_INLINE void prepare_past(const View<E>&, const Arguments& a, Items items) {
    constexpr uint64_t parameters = uint64_t(Networks<E, policy>::parameters);
    const PastPool& pool = a.pools[policy];
    for (uint64_t member = 0; member < pool.members; ++member)
        for (uint64_t i = items.begin;
             pool.ready[member] != pool.steps[member] && i < min(items.end, parameters); ++i)
            Prepared<E, policy>::store(pool.prepared + member * pool.words, int(i),
                                       pool.weights[member * parameters + i]);
}
// What plays rows: weights as kernels read them, and how they see.
template <class E, int policy>
NACELLE_INLINE const float* prepared_of(const Arguments& a, int player) {
    if constexpr (plays_past<policy>)
        if (player != present) return a.pools[policy].prepared + player * a.pools[policy].words;
    return a.policy[policy].prepared;
}
template <class E, int policy> NACELLE_INLINE Memory seen_by(const Arguments& a, int player) {
    Memory memory = a.memory[Spec<policy>::group];
    if constexpr (plays_past<policy>)
        if (player != present) {
            memory.mean = a.pools[policy].mean + player * width_of<E, policy>;
            memory.scale = a.pools[policy].scale + player * width_of<E, policy>;
        }
    return memory;
}

}
