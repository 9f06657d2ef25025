#pragma once
#include <learn/choice.h>
#include <learn/gpu/fused/policy.h>
#include <learn/strips.h>
// The policy in the loop of a rollout on tensor cores, and what it writes down.

namespace learn {

template <class E> class WarpRollout : WarpPolicy<E> {
    using Base = WarpPolicy<E>;
    using Base::a_, Base::memory_, Base::rows_, Base::put, Base::forward, Base::output,
        Base::policy;
    using G = Sole<E>;
    using N = typename Base::N;
    using H = typename Base::H;
    using L = typename Base::L;
    static constexpr int width = width_of<E, policy>, choices = choices_in<ActionOf<E>>;

public:
    static constexpr bool chooses_by_warp = true;

    NACELLE_INLINE WarpRollout(const View<E>& view, const Arguments& a, RowStage<L>& stage,
                               float* bias)
        : Base(view, a, stage, bias) {}
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        value_cut(rows.view, rows.env, rows.t - 1);
        const size_t at = size_t(rows.t) * rows_ + rows.env;
        rows.for_own([&](int i) {
            const float* const obs = rows.obs(i);
            float* const kept = memory_.obs + at * size_t(width);
            for (int k = 0; k < width; ++k) kept[k] = obs[k];
            put(obs);
        });
        forward();
        rows.for_own([&](int i) {
            float out[L::out], choice[H::parts];
            NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = output(k);
            const uint8_t* const mask = rows.mask(i);
            Dice<E, policy> dice(rows.view, rows.tick, rows.env);
            memory_.log_probability[at] = H::draw(out, mask, dice, choice);
            if constexpr (N::shared) memory_.value[at] = out[N::value_output];
            for (int k = 0; k < H::parts; ++k)
                memory_.choice[at * H::parts + size_t(k)] = choice[k];
            for (int k = 0; k < (mask ? choices : 0); ++k)
                memory_.mask[at * size_t(choices) + size_t(k)] = mask[k];
            ActionOf<E> action;
            H::act(choice, action);
            rows.give(i, action);
        });
    }
    // What the last step led to.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env) {
        const bool mine = env < rows_;
        value_cut(view, env, int(a_.steps) - 1);
        const size_t at = size_t(a_.steps) * rows_ + env;
        if (mine) {
            const float* const obs = obs_row<E>(view, env);
            for (int k = 0; k < width; ++k) memory_.obs[at * size_t(width) + size_t(k)] = obs[k];
            put(obs);
        }
        if constexpr (N::shared) {
            forward();
            if (mine) memory_.value[at] = value();
        }
    }

private:
    NACELLE_INLINE float value() const { return output(N::value_output); }
    // Where an episode was cut short in step t, its value; where none of the warp's was, nothing. With a
    // network of its own for values that is for later: the observation is kept instead.
    NACELLE_INLINE void value_cut(const View<E>& view, size_t env, int t) {
        const size_t at = size_t(max(t, 0)) * rows_ + env;
        const bool cut = env < rows_ && t >= 0 && is_cut(memory_.flag[at]);
        if (!__ballot_sync(~0u, cut)) return;
        const float* const obs = obs_row<E, Role::final_obs>(view, cut ? env : 0);
        if constexpr (N::shared) {
            if (cut) put(obs);
            forward();
            if (cut) memory_.final_value[at] = value();
        } else if (cut)
            for (int k = 0; k < width; ++k)
                memory_.final_obs[at * size_t(width) + size_t(k)] = obs[k];
    }
};

template <class E>
NACELLE_INLINE void rollout_warps(const View<E>& view, const Arguments& a, Items items) {
    with_row_stage(view, items, [&](size_t env, auto& stage, float* bias) {
        WarpRollout<E> policy(view, a, stage, bias);
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, record_of<E>(view, a, 0));
        if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env);
    });
}

}
