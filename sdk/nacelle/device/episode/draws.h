#pragma once
#include <nacelle/device/episode/local_env.h>
// The parameters that vary from episode to episode.

namespace nacelle::detail {

template <class T> NACELLE_INLINE T drawn(const Draw& draw, Rng& rng) {
    constexpr bool whole = !same<T, float> && !same<T, double>;
    float x = draw.a;
    if (draw.form == Draw::uniform) {
        if constexpr (whole) {
            // Bounds may lie further apart than an int can say.
            const uint32_t count = uint32_t(int(draw.b)) - uint32_t(int(draw.a)) + 1;
            return T(int(uint32_t(int(draw.a)) + uint32_t(below_from(rng.bits(), int(count)))));
        } else x = rng.uniform(draw.a, draw.b);
    } else if (draw.form == Draw::log_uniform) x = exp(rng.uniform(log(draw.a), log(draw.b)));
    else if (draw.form == Draw::normal) x = draw.a + draw.b * rng.normal();
    else if (draw.form == Draw::choice) x = draw.value[rng.below(draw.count)];
    return T(whole ? floor(x + 0.5f) : x);
}
template <class E, class L>
NACELLE_INLINE void draw_params(const View<E>& view, uint64_t tick, L& local) {
    if constexpr (any_varied<E>()) {
        local.own = view.params;
        Rng rng(view.head.seed, Domain::parameters, tick,
                view.head.first_env + uint32_t(local.env));
        for_each_varied<E>(local.own, [&](int slot, int k, auto& value, int number) {
            using T = bare<decltype(value)>;
            value = drawn<T>(view.head.draws[number], rng);
            static_cast<T*>(view.array[slot])[size_t(k) * view.head.envs + local.env] = value;
        });
    }
}

}
