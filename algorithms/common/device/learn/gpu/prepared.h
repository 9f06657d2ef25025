#pragma once
#include <learn/gpu/warp_layers.h>
// Where the weights of a policy's networks lie for its kernels, and how they come there.

namespace learn {

// In 32-bit floats: the actor's, the same turned, then the critic's likewise.
template <class L> struct FloatOrder {
    static constexpr int turned = Packed<L>::size, size = turned + Packed<L>::turned;
    static NACELLE_INLINE void store(float* to, int index, float value) {
        to[Packed<L>::place(index)] = value;
        const int place = Packed<L>::turned_place(index);
        if (place >= 0) to[turned + place] = value;
    }
};
template <class E, int policy> struct Prepared {
    using N = Networks<E, policy>;
    static constexpr bool tensor = on_tensor_cores<policy>;
    using ActorOrder = Either<tensor, Fragments<typename N::Actor>, FloatOrder<typename N::Actor>>;
    using CriticOrder =
        Either<tensor, Fragments<typename N::Critic>, FloatOrder<typename N::Critic>>;
    static constexpr int critic = (ActorOrder::size + 63) / 64 * 64;

    static NACELLE_INLINE void store(float* to, int index, float value) {
        if (N::shared || index < N::Actor::parameters) ActorOrder::store(to, index, value);
        else CriticOrder::store(to + critic, index - N::Actor::parameters, value);
    }
};
template <class E, int policy>
NACELLE_INLINE void prepare(const View<E>&, const Arguments& a, Items items) {
    const Pupil& pupil = a.pupil[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(Networks<E, policy>::parameters));
         ++i)
        Prepared<E, policy>::store(pupil.prepared, int(i), pupil.weights[i]);
}

}
