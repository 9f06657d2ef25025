#pragma once
#include <learn/choice.h>
#include <learn/gpu/prepared.h>
#include <learn/gpu/warp_mind.h>
#include <learn/strips.h>
// The policy in the loop of a rollout on tensor cores, for environments with one agent: the first 16 lanes
// of a warp have an environment each, all 32 share the work of the network.

namespace learn {

inline constexpr int pilot_threads = 64;    // two warps: few environments reach many processors

template <class E> class WarpPilot {
    static constexpr int policy = 0;
    using G = Sole<E>;
    using N = Networks<E, policy>;
    using H = typename N::H;
    using L = typename N::Actor;
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;
    static constexpr int width = width_of<E, policy>, choices = choices_in<ActionOf<E>>;

public:
    static constexpr bool acts_together = true;

    // `bias` has room for the biases, and is filled here; the desk is this warp's.
    NACELLE_INLINE WarpPilot(const View<E>& view, const Arguments& a, Desk<L>& desk, float* bias)
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
    NACELLE_INLINE void act(const View<E>& view, const Now& now, ActionOf<E>& action) {
        const bool mine = now.env < rows_;
        settle(view, now.env, now.t - 1);
        if (mine) {
            float* const kept = memory_.obs + (size_t(now.t) * rows_ + now.env) * size_t(width);
            for (int k = 0; k < width; ++k) kept[k] = now.obs[k];
            W::put(desk_, warp_lane(), now.obs, memory_);
        }
        W::think(desk_, weights_, bias_);
        if (!mine) return;
        const size_t at = size_t(now.t) * rows_ + now.env;
        float out[L::out], choice[H::parts];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] =
            desk_.out[warp_lane() * Desk<L>::pitch_out + k];
        Dice<E, policy> dice(view, now.tick, now.env);
        memory_.log_odds[at] = H::draw(out, now.mask, dice, choice);
        if constexpr (N::shared) memory_.value[at] = out[N::value_output];
        for (int i = 0; i < H::parts; ++i) memory_.choice[at * H::parts + size_t(i)] = choice[i];
        for (int i = 0; i < (now.mask ? choices : 0); ++i)
            memory_.mask[at * size_t(choices) + size_t(i)] = now.mask[i];
        H::act(choice, action);
    }
    // What the last step led to.
    NACELLE_INLINE void land(const View<E>& view, size_t env) {
        const bool mine = env < rows_;
        settle(view, env, int(a_.steps) - 1);
        const size_t at = size_t(a_.steps) * rows_ + env;
        if (mine) {
            const float* const obs = obs_row<E>(view, env);
            for (int k = 0; k < width; ++k) memory_.obs[at * size_t(width) + size_t(k)] = obs[k];
            W::put(desk_, warp_lane(), obs, memory_);
        }
        if constexpr (N::shared) {
            W::think(desk_, weights_, bias_);
            if (mine) memory_.value[at] = value();
        }
    }

private:
    NACELLE_INLINE float value() const {
        return desk_.out[warp_lane() * Desk<L>::pitch_out + N::value_output];
    }
    // Where an episode was cut short in step t, its value; where none of the warp's was, nothing. With a
    // network of its own for values that is for later: the observation is kept instead.
    NACELLE_INLINE void settle(const View<E>& view, size_t env, int t) {
        const size_t at = size_t(max(t, 0)) * rows_ + env;
        const bool cut = env < rows_ && t >= 0 && is_cut(memory_.flag[at]);
        if (!__ballot_sync(~0u, cut)) return;
        const float* const obs = obs_row<E, Role::final_obs>(view, cut ? env : 0);
        if constexpr (N::shared) {
            if (cut) W::put(desk_, warp_lane(), obs, memory_);
            W::think(desk_, weights_, bias_);
            if (cut) memory_.final_value[at] = value();
        } else if (cut)
            for (int k = 0; k < width; ++k)
                memory_.final_obs[at * size_t(width) + size_t(k)] = obs[k];
    }

    const Arguments& a_;
    const Memory& memory_;
    Desk<L>& desk_;
    float* bias_;
    size_t rows_;
    typename W::Weights weights_;
};

// The environment of a lane, or the number behind the last one.
template <class E> NACELLE_INLINE size_t pilot_env(const View<E>& view, Items items) {
    const size_t lane = size_t(warp_lane());
    return lane < size_t(warp_rows) ? size_t(items.begin) / 32 * warp_rows + lane
                                    : size_t(view.head.envs);
}
template <class E>
NACELLE_INLINE void fly_warps(const View<E>& view, const Arguments& a, Items items) {
    using L = typename Networks<E, 0>::Actor;
    __shared__ Desk<L> desks[pilot_threads / 32];
    __shared__ float bias[Fragments<L>::bias_before(L::count)];
    const size_t env = pilot_env(view, items);
    WarpPilot<E> pilot(view, a, desks[threadIdx.x / 32], bias);
    rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), pilot,
               AloneRecord<E>{a.memory[0], size_t(view.head.envs)});
    if (!time_of(view.head, 0).stopped) pilot.land(view, env);
}

}
