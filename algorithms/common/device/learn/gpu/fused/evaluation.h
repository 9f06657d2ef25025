#pragma once
#include <learn/choice.h>
#include <learn/gpu/fused/policy.h>
// Many steps of an evaluation in one launch: a rollout of which nothing is kept.

namespace learn {

template <class E> class WarpEvaluation : WarpPolicy<E> {
    using Base = WarpPolicy<E>;
    using Base::a_, Base::rows_, Base::put, Base::forward, Base::output, Base::policy;
    using H = typename Base::H;
    using L = typename Base::L;

public:
    static constexpr bool chooses_by_warp = true;

    NACELLE_INLINE WarpEvaluation(const View<E>& view, const Arguments& a, RowStage<L>& stage,
                                  float* bias)
        : Base(view, a, stage, bias) {}
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        rows.for_own([&](int i) { put(rows.obs(i)); });
        forward();
        rows.for_own([&](int i) {
            float out[L::out], choice[H::parts];
            NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = output(k);
            if (a_.greedy) H::best(out, rows.mask(i), choice);
            else {
                Dice<E, policy> dice(rows.view, rows.tick, rows.env);
                H::draw(out, rows.mask(i), dice, choice);
            }
            ActionOf<E> action;
            H::act(choice, action);
            rows.give(i, action);
        });
    }
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
    with_row_stage(view, items, [&](size_t env, auto& stage, float* bias) {
        WarpEvaluation<E> policy(view, a, stage, bias);
        rollout<E>(view, Items{env, env + 1}, 0, int(a.played.steps), policy,
                   FirstEpisode<E>(view, a.played, env));
    });
}

}
