#pragma once
#include <learn/gpu/dense/layers.h>
#include <learn/gpu/update/loss_gradient.h>

namespace learn {

// What a lane reads of a sample before its turn: a few numbers of the observation, or what the rollout found.
template <class E, int policy> struct Prefetched {
    static constexpr int width = width_of<E, policy>, most = 8, planes = Spec<policy>::planes;
    static constexpr bool in_registers =
        width <= most && !Spec<policy>::sees.more() && !keeps_pairs;
    float seen[in_registers ? width : 1];
    KeptSample<E, policy> kept;

    NACELLE_INLINE void obs(const Memory& memory, size_t at) {
        if constexpr (Spec<policy>::sees.more()) return;
        if constexpr (in_registers) {
            const float* const from = memory.obs + at * size_t(width);
            if constexpr (width % 4 == 0) {
                NACELLE_UNROLL for (int k = 0; k < width; k += 4) {
                    const Four four = four_at(from + k);
                    NACELLE_UNROLL for (int i = 0; i < 4; ++i) seen[k + i] = four.at[i];
                }
            } else {
                NACELLE_UNROLL for (int k = 0; k < width; ++k) seen[k] = from[k];
            }
        } else bring_row_near(memory, at);
    }
    static NACELLE_INLINE void bring_row_near(const Memory& memory, size_t at) {
        constexpr int parts = Spec<policy>::sees.more() ? 0 : kept_parts<width>;
        NACELLE_ROLLED for (int k = 0; k < parts; k += 32)
            bring_near(memory.obs + at * size_t(parts) + k);
    }
    NACELLE_INLINE void put(uint32_t* row, size_t at, const Arguments& a) const {
        const Memory& memory = a.memory[Spec<policy>::group];
        if constexpr (in_registers) put_row<width, planes>(row, seen, memory);
        else put_row<width, planes>(row, seen_at<E, policy>(a, at), memory);
    }
};

}
