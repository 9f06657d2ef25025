#pragma once
#include <learn/choice.h>
#include <learn/gpu/fused/inference.h>
#include <learn/gpu/prepared.h>
#include <learn/record.h>
// Rollouts and evaluations of environments with one agent, on tensor cores: the first 16 lanes of a warp have an
// environment each, all 32 share the work of the network.

namespace learn {

// The policy in the loop, and what it writes down where a rollout is kept.
template <class E, bool keeps> class WarpPolicy {
    static constexpr int policy = 0;
    using N = Networks<E, policy>;
    using H = typename N::H;
    using L = typename N::Actor;
    static constexpr int width = width_of<E, policy>, choices = choices_in<ActionOf<E>>;

public:
    static constexpr bool chooses_by_warp = true;

    // `bias` has room for the biases, and is filled here; the stage is this warp's.
    NACELLE_INLINE WarpPolicy(const View<E>& view, const Arguments& a, RowStage<L>& stage,
                              float* bias)
        : a_(a),
          memory_(a.memory[0]),
          stage_(stage),
          bias_(bias),
          rows_(view.head.envs),
          weights_{own_words(a.policy[policy].prepared)} {
        const float* const from = a.policy[policy].prepared + layout_of<L>.bias_start;
        for (int i = int(threadIdx.x); i < layout_of<L>.biases; i += rollout_threads)
            bias[i] = from[i];
        stage.clear();
        __syncthreads();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        if constexpr (keeps) value_cut(rows.view, rows.env, rows.t - 1);
        Dice<E, policy> dice(rows.view, rows.tick, rows.env);
        if constexpr (keeps) dice.prepare();
        const size_t at = size_t(rows.t) * rows_ + rows.env;
        rows.for_own([&](int i) {
            const float* const obs = rows.obs(i);
            if constexpr (keeps) keep(memory_.obs, at, obs);
            stage_.put(obs, memory_);
        });
        stage_.forward(weights_, bias_);
        rows.for_own([&](int i) {
            float out[L::out], choice[H::parts];
            NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = stage_.outputs()[k];
            const uint8_t* const mask = rows.mask(i);
            if (!keeps && a_.greedy) H::best(out, mask, choice);
            else {
                const float log_probability = H::draw(out, mask, dice, choice);
                if constexpr (keeps) memory_.log_probability[at] = log_probability;
            }
            if constexpr (keeps) {
                if constexpr (N::shared) memory_.value[at] = out[N::value_output];
                for (int k = 0; k < H::parts; ++k)
                    memory_.choice[at * H::parts + size_t(k)] = choice[k];
                for (int k = 0; k < (mask ? choices : 0); ++k)
                    memory_.mask[at * size_t(choices) + size_t(k)] = mask[k];
            }
            ActionOf<E> action;
            H::act(choice, action);
            rows.give(i, action);
        });
    }
    // Writes steps down, and notes here whether the last one cut an episode short: read back from memory, the flag would
    // be as late as a layer's outputs.
    NACELLE_INLINE auto record(const View<E>& view) {
        return [this, to = record_of<E>(view, a_, 0)](const Now& now, const ActionOf<E>& action,
                                                      const Outcome& outcome) {
            to(now, action, outcome);
            cut_ = is_cut(flag_of(outcome, true));
        };
    }
    // What the last step led to.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env) {
        const bool mine = env < rows_;
        value_cut(view, env, int(a_.steps) - 1);
        const size_t at = size_t(a_.steps) * rows_ + env;
        if (mine) {
            const float* const obs = obs_row<E>(view, env);
            keep(memory_.obs, at, obs);
            stage_.put(obs, memory_);
        }
        if constexpr (N::shared) {
            stage_.forward(weights_, bias_);
            if (mine) memory_.value[at] = stage_.outputs()[N::value_output];
        }
    }

private:
    static NACELLE_INLINE void keep(float* to, size_t at, const float* obs) {
        for (int k = 0; k < width; ++k) to[at * size_t(width) + size_t(k)] = obs[k];
    }
    // Where an episode was cut short in step t, its value; where none of the warp's was, nothing. With a
    // network of its own for values that is for later: the observation is kept instead.
    NACELLE_INLINE void value_cut(const View<E>& view, size_t env, int t) {
        const size_t at = size_t(max(t, 0)) * rows_ + env;
        const bool cut = cut_;
        if (!__ballot_sync(~0u, cut)) return;
        const float* const obs = obs_row<E, Role::final_obs>(view, cut ? env : 0);
        if constexpr (N::shared) {
            if (cut) stage_.put(obs, memory_);
            stage_.forward(weights_, bias_);
            if (cut) memory_.final_value[at] = stage_.outputs()[N::value_output];
        } else if (cut) keep(memory_.final_obs, at, obs);
    }

    const Arguments& a_;
    const Memory& memory_;
    RowStage<L>& stage_;
    float* bias_;
    size_t rows_;
    KeptWeights<L> weights_;
    bool cut_ = false;
};

// fn(env, policy) for the environment of each lane, or the number behind the last one.
template <class E, bool keeps, class Fn>
NACELLE_INLINE void with_warp_policy(const View<E>& view, const Arguments& a, Items items,
                                     Fn&& fn) {
    using L = typename Networks<E, 0>::Actor;
    __shared__ RowStage<L> stages[rollout_threads / 32];
    __shared__ float bias[layout_of<L>.biases];
    const size_t lane = size_t(warp_lane());
    const size_t env = lane < size_t(warp_rows) ? size_t(items.begin) / 32 * warp_rows + lane
                                                : size_t(view.head.envs);
    WarpPolicy<E, keeps> policy(view, a, stages[threadIdx.x / 32], bias);
    fn(env, policy);
}
template <class E>
NACELLE_INLINE void rollout_warps(const View<E>& view, const Arguments& a, Items items) {
    with_warp_policy<E, true>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, policy.record(view));
        if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env);
    });
}

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
// Many steps of an evaluation in one launch.
template <class E>
NACELLE_INLINE void play_warps(const View<E>& view, const Arguments& a, Items items) {
    with_warp_policy<E, false>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.played.steps), policy,
                   FirstEpisode<E>(view, a.played, env));
    });
}

}
