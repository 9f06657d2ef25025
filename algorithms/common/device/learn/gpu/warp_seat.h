#pragma once
#include <learn/gpu/prepared.h>
#include <learn/gpu/warp_mind.h>
// What flies environments with one agent on tensor cores, whether it keeps notes or not: the first 16 lanes
// of a warp have an environment each, all 32 share the work of the network.

namespace learn {

inline constexpr int pilot_threads = 64;    // two warps: few environments reach many processors

template <class E> class WarpSeat {
protected:
    static constexpr int policy = 0;
    using N = Networks<E, policy>;
    using H = typename N::H;
    using L = typename N::Actor;
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;

    // `bias` has room for the biases, and is filled here; the desk is this warp's.
    NACELLE_INLINE WarpSeat(const View<E>& view, const Arguments& a, Desk<L>& desk, float* bias)
        : a_(a),
          memory_(a.memory[0]),
          desk_(desk),
          bias_(bias),
          rows_(view.head.envs),
          weights_{W::words(a.pupil[policy].prepared)} {
        const float* const from = a.pupil[policy].prepared + F::bias_start;
        for (int i = int(threadIdx.x); i < F::bias_before(L::count); i += pilot_threads)
            bias[i] = from[i];
        W::clear(desk);
        __syncthreads();
    }
    NACELLE_INLINE void put(const float* obs) { W::put(desk_, warp_lane(), obs, memory_); }
    NACELLE_INLINE void think() { W::think(desk_, weights_, bias_); }
    NACELLE_INLINE float output(int k) const {
        return desk_.out[warp_lane() * Desk<L>::pitch_out + k];
    }

    const Arguments& a_;
    const Memory& memory_;
    Desk<L>& desk_;
    float* bias_;
    size_t rows_;
    typename W::Weights weights_;
};

// fn(env, desk, bias) for the environment of each lane, or the number behind the last one.
template <class E, class Fn>
NACELLE_INLINE void take_seats(const View<E>& view, Items items, Fn&& fn) {
    using L = typename Networks<E, 0>::Actor;
    __shared__ Desk<L> desks[pilot_threads / 32];
    __shared__ float bias[Fragments<L>::bias_before(L::count)];
    const size_t lane = size_t(warp_lane());
    const size_t env = lane < size_t(warp_rows) ? size_t(items.begin) / 32 * warp_rows + lane
                                                : size_t(view.head.envs);
    fn(env, desks[threadIdx.x / 32], bias);
}

}
