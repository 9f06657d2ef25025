#pragma once
#include <learn/gpu/fused/inference.h>
#include <learn/gpu/prepared.h>
// The policy of environments with one agent, on tensor cores, in a rollout and in an evaluation: the first 16 lanes
// of a warp have an environment each, all 32 share the work of the network.

namespace learn {

template <class E> class WarpPolicy {
protected:
    static constexpr int policy = 0;
    using N = Networks<E, policy>;
    using H = typename N::H;
    using L = typename N::Actor;
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;

    // `bias` has room for the biases, and is filled here; the stage is this warp's.
    NACELLE_INLINE WarpPolicy(const View<E>& view, const Arguments& a, RowStage<L>& stage,
                              float* bias)
        : a_(a),
          memory_(a.memory[0]),
          stage_(stage),
          bias_(bias),
          rows_(view.head.envs),
          weights_{W::words(a.policy[policy].prepared)} {
        const float* const from = a.policy[policy].prepared + F::bias_start;
        for (int i = int(threadIdx.x); i < F::bias_before(L::count); i += rollout_threads)
            bias[i] = from[i];
        W::clear(stage);
        __syncthreads();
    }
    NACELLE_INLINE void put(const float* obs) { W::put(stage_, warp_lane(), obs, memory_); }
    NACELLE_INLINE void forward() { W::forward(stage_, weights_, bias_); }
    NACELLE_INLINE float output(int k) const {
        return stage_.out[warp_lane() * RowStage<L>::pitch_out + k];
    }

    const Arguments& a_;
    const Memory& memory_;
    RowStage<L>& stage_;
    float* bias_;
    size_t rows_;
    typename W::Weights weights_;
};

// fn(env, stage, bias) for the environment of each lane, or the number behind the last one.
template <class E, class Fn>
NACELLE_INLINE void with_row_stage(const View<E>& view, Items items, Fn&& fn) {
    using L = typename Networks<E, 0>::Actor;
    __shared__ RowStage<L> stages[rollout_threads / 32];
    __shared__ float bias[Fragments<L>::bias_before(L::count)];
    const size_t lane = size_t(warp_lane());
    const size_t env = lane < size_t(warp_rows) ? size_t(items.begin) / 32 * warp_rows + lane
                                                : size_t(view.head.envs);
    fn(env, stages[threadIdx.x / 32], bias);
}

}
