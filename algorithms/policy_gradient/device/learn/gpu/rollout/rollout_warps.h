#pragma once
#include <learn/gpu/dense/inference.h>
#include <learn/gpu/rollout/one_agent.h>
#include <learn/gpu/tile/prepared.h>
// Rollouts and evaluations of environments with one agent, on tensor cores: the first 16 lanes of a warp, or eight, have
// an environment each, all 32 share the work of the network.

namespace learn {

// The policy in the loop.
template <class E, bool keeps, int envs> class WarpPolicy {
    using N = Networks<E, 0>;
    using L = typename N::Actor;

public:
    using Stage =
        RowStage<L, 1, envs == half_rows, layout_of<L>.rolled || nacelle::detail::gpu_draft>;
    static constexpr bool chooses_by_warp = true;

    // `bias` has room for the biases, and is filled here; the stage is this warp's.
    NACELLE_INLINE WarpPolicy(const View<E>& view, const Arguments& a, Stage& stage, float* bias)
        : seat_(view, a),
          memory_(a.memory[0]),
          scales_(a.memory[0]),
          stage_(stage),
          bias_(bias),
          steps_(int(a.steps)),
          weights_{own_words(a.policy[0].prepared)} {
        const float* const from = a.policy[0].prepared + layout_of<L>.bias_start;
        for (int i = int(threadIdx.x); i < layout_of<L>.biases; i += rollout_threads)
            bias[i] = from[i];
        stage.clear();
        __syncthreads();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        if constexpr (keeps) value_cut(rows.view, rows.env, rows.t - 1);
        rows.for_own([&](int i) {
            const float* const obs = rows.obs(i);
            seat_.keep_obs(seat_.place(rows.env, rows.t), obs);
            stage_.put(obs, scales_);
        });
        auto dice = seat_.dice(rows);    // here its words fill the time that products take
        stage_.forward(weights_, bias_);
        rows.for_own([&](int i) { seat_.decide(rows, i, stage_.outputs(), dice); });
    }
    NACELLE_INLINE auto record(const View<E>& view) { return seat_.record(view); }
    // What the last step led to.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env) {
        const bool mine = seat_.has(env);
        value_cut(view, env, steps_ - 1);
        const size_t at = seat_.place(env, steps_);
        if (mine) {
            const float* const obs = obs_row<E>(view, env);
            seat_.keep_obs(at, obs);
            stage_.put(obs, scales_);
        }
        if constexpr (N::shared) {
            stage_.forward(weights_, bias_);
            if (mine) memory_.value[at] = stage_.outputs()[N::value_output];
        }
    }

private:
    // Where an episode was cut short in step t, its value; where none of the warp's was, nothing. With a
    // network of its own for values that is for later: the observation is kept instead.
    NACELLE_INLINE void value_cut(const View<E>& view, size_t env, int t) {
        const bool cut = seat_.was_cut();
        if (!__ballot_sync(~0u, cut)) return;
        if constexpr (N::shared) {
            if (cut) stage_.put(obs_row<E, Role::final_obs>(view, env), scales_);
            stage_.forward(weights_, bias_);
            if (cut) memory_.final_value[seat_.place(env, t)] = stage_.outputs()[N::value_output];
        } else if (cut) seat_.keep_cut(view, env, t);
    }

    AloneSeat<E, keeps> seat_;
    const Memory& memory_;
    ScalesOf<L::in> scales_;
    Stage& stage_;
    float* bias_;
    int steps_;
    KeptWeights<L> weights_;
};

// fn(env, policy) for the environment of each lane, or the number behind the last one.
template <class E, bool keeps, int envs, class Fn>
NACELLE_INLINE void with_warp_policy(const View<E>& view, const Arguments& a, Items items,
                                     Fn&& fn) {
    using L = typename Networks<E, 0>::Actor;
    using Policy = WarpPolicy<E, keeps, envs>;
    __shared__ typename Policy::Stage stages[rollout_threads / 32];
    __shared__ float bias[layout_of<L>.biases];
    const size_t lane = size_t(warp_lane());
    const size_t env =
        lane < size_t(envs) ? size_t(items.begin) / 32 * envs + lane : size_t(view.head.envs);
    Policy policy(view, a, stages[threadIdx.x / 32], bias);
    fn(env, policy);
}
template <class E, int envs>
NACELLE_INLINE void rollout_warps(const View<E>& view, const Arguments& a, Items items) {
    with_warp_policy<E, true, envs>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, policy.record(view));
        if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env);
    });
}

// Many steps of an evaluation in one launch.
template <class E, int envs>
NACELLE_INLINE void play_warps(const View<E>& view, const Arguments& a, Items items) {
    with_warp_policy<E, false, envs>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.played.steps), policy,
                   FirstEpisode<E>(view, a.played, env));
    });
}

}
