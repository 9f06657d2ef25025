#pragma once
#include <learn/gpu/dense/inference.h>
#include <learn/gpu/tile/prepared.h>

namespace learn {

// The rows of one warp of an update's block in shared memory.
template <class L> struct WarpStage {
    static constexpr FusedLayout<> all = layout_of<L>;
    uint32_t* stage;
    int warp;

    NACELLE_INLINE WarpStage(uint32_t* its_stage, int its_warp)
        : stage(its_stage), warp(its_warp) {}
    template <int l> NACELLE_INLINE uint32_t* seen() const {
        return stage + layer_of<L, l>.seen + warp * all.warp_samples * layer_of<L, l>.pitch;
    }
    template <int l> NACELLE_INLINE uint32_t* slopes() const {
        return stage + layer_of<L, l>.slopes + warp * all.warp_samples * layer_of<L, l>.pitch;
    }
    NACELLE_INLINE float* output(int row) const {
        return reinterpret_cast<float*>(stage + all.out_start) +
               (warp * all.warp_samples + row) * all.out_pitch;
    }
    // What this lane reads of the tiles of weights from word `start` on.
    NACELLE_INLINE const uint32_t* weights(int start) const {
        return stage + all.weights_start + start + 2 * warp_lane();
    }
    NACELLE_INLINE const float* bias() const {
        return reinterpret_cast<const float*>(stage + all.weights_start) + all.bias_start;
    }
};

}
