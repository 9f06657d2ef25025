#pragma once
#include <learn/blocked.h>
#include <learn/gpu/fused/layers.h>
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
template <class E, int policy> struct Prepared {
    using N = Networks<E, policy>;
    template <class L> using Order = Either<Spec<policy>::streamed, TiledOrder<L>, FusedOrder<L>>;
    using ActorOrder = Order<typename N::Actor>;
    using CriticOrder = Order<typename N::Critic>;
    static constexpr int critic = int(second_network_at(uint64_t(ActorOrder::size)));

    static NACELLE_INLINE void store(float* to, int index, float value) {
        if (N::shared || index < N::Actor::parameters) ActorOrder::store(to, index, value);
        else CriticOrder::store(to + critic, index - N::Actor::parameters, value);
    }
};
template <class E, int policy>
NACELLE_INLINE void prepare(const View<E>&, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(Networks<E, policy>::parameters));
         ++i)
        Prepared<E, policy>::store(state.prepared, int(i), state.weights[i]);
}

}
