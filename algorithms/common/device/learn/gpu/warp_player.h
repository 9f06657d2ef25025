#pragma once
#include <learn/gpu/warp_pilot.h>
// Many steps of an evaluation in one launch: the pilot's network without its notes.

namespace learn {

template <class E> class WarpPlayer {
    static constexpr int policy = 0;
    using N = Networks<E, policy>;
    using H = typename N::H;
    using L = typename N::Actor;
    using F = Fragments<L>;
    using W = WarpNetwork<E, policy, L>;

public:
    static constexpr bool acts_together = true;

    NACELLE_INLINE WarpPlayer(const View<E>& view, const Arguments& a, Desk<L>& desk, float* bias)
        : a_(a),
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
        if (mine) W::put(desk_, warp_lane(), now.obs, a_.memory[0]);
        W::think(desk_, weights_, bias_);
        if (!mine) return;
        float out[L::out], choice[H::parts];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] =
            desk_.out[warp_lane() * Desk<L>::pitch_out + k];
        if (a_.greedy) H::best(out, now.mask, choice);
        else {
            Dice<E, policy> dice(view, now.tick, now.env);
            H::draw(out, now.mask, dice, choice);
        }
        H::act(choice, action);
    }

private:
    const Arguments& a_;
    Desk<L>& desk_;
    float* bias_;
    size_t rows_;
    typename W::Weights weights_;
};

// Notes the episode that an environment is in, when it ends.
template <class E> struct FirstEpisode {
    Played to;
    bool open;
    int length = 0;
    float sum = 0;

    NACELLE_INLINE FirstEpisode(const View<E>& view, const Played& played, size_t env)
        : to(played), open(env < played.envs && env < view.head.envs && !played.over[env]) {
        if (!open) return;
        length = NACELLE_COLUMN(view, int, Role::episode, "episode.length")[env];
        sum = NACELLE_COLUMN(view, float, Role::episode, "episode.return")[env];
    }
    NACELLE_INLINE void operator()(const Now& now, const ActionOf<E>&, const Outcome& outcome) {
        if (!open) return;
        ++length;
        sum += outcome.reward;
        if (!outcome.terminated && !outcome.truncated) return;
        open = false;
        to.returns[now.env] = double(sum);
        to.lengths[now.env] = length;
        to.over[now.env] = 1;
    }
};

template <class E>
NACELLE_INLINE void play_warps(const View<E>& view, const Arguments& a, Items items) {
    using L = typename Networks<E, 0>::Actor;
    __shared__ Desk<L> desks[pilot_threads / 32];
    __shared__ float bias[Fragments<L>::bias_before(L::count)];
    const size_t env = pilot_env(view, items);
    WarpPlayer<E> player(view, a, desks[threadIdx.x / 32], bias);
    rollout<E>(view, Items{env, env + 1}, 0, int(a.played.steps), player,
               FirstEpisode<E>(view, a.played, env));
}

}
