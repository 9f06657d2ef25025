#pragma once
#include <learn/choice.h>
#include <learn/gpu/warp_seat.h>
#include <learn/strips.h>
// The policy in the loop of a rollout on tensor cores, and what it writes down.

namespace learn {

template <class E> class WarpPilot : WarpSeat<E> {
    using Seat = WarpSeat<E>;
    using Seat::a_, Seat::memory_, Seat::rows_, Seat::put, Seat::think, Seat::output, Seat::policy;
    using G = Sole<E>;
    using N = typename Seat::N;
    using H = typename Seat::H;
    using L = typename Seat::L;
    static constexpr int width = width_of<E, policy>, choices = choices_in<ActionOf<E>>;

public:
    static constexpr bool acts_together = true;

    NACELLE_INLINE WarpPilot(const View<E>& view, const Arguments& a, Desk<L>& desk, float* bias)
        : Seat(view, a, desk, bias) {}
    NACELLE_INLINE void act(const View<E>& view, const Now& now, ActionOf<E>& action) {
        const bool mine = now.env < rows_;
        settle(view, now.env, now.t - 1);
        if (mine) {
            float* const kept = memory_.obs + (size_t(now.t) * rows_ + now.env) * size_t(width);
            for (int k = 0; k < width; ++k) kept[k] = now.obs[k];
            put(now.obs);
        }
        think();
        if (!mine) return;
        const size_t at = size_t(now.t) * rows_ + now.env;
        float out[L::out], choice[H::parts];
        NACELLE_UNROLL for (int k = 0; k < L::out; ++k) out[k] = output(k);
        Dice<E, policy> dice(view, now.tick, now.env);
        memory_.log_probability[at] = H::draw(out, now.mask, dice, choice);
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
            put(obs);
        }
        if constexpr (N::shared) {
            think();
            if (mine) memory_.value[at] = value();
        }
    }

private:
    NACELLE_INLINE float value() const { return output(N::value_output); }
    // Where an episode was cut short in step t, its value; where none of the warp's was, nothing. With a
    // network of its own for values that is for later: the observation is kept instead.
    NACELLE_INLINE void settle(const View<E>& view, size_t env, int t) {
        const size_t at = size_t(max(t, 0)) * rows_ + env;
        const bool cut = env < rows_ && t >= 0 && is_cut(memory_.flag[at]);
        if (!__ballot_sync(~0u, cut)) return;
        const float* const obs = obs_row<E, Role::final_obs>(view, cut ? env : 0);
        if constexpr (N::shared) {
            if (cut) put(obs);
            think();
            if (cut) memory_.final_value[at] = value();
        } else if (cut)
            for (int k = 0; k < width; ++k)
                memory_.final_obs[at * size_t(width) + size_t(k)] = obs[k];
    }
};

template <class E>
NACELLE_INLINE void fly_warps(const View<E>& view, const Arguments& a, Items items) {
    take_seats(view, items, [&](size_t env, auto& desk, float* bias) {
        WarpPilot<E> pilot(view, a, desk, bias);
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), pilot,
                   AloneRecord<E>{a.memory[0], size_t(view.head.envs)});
        if (!time_of(view.head, 0).stopped) pilot.land(view, env);
    });
}

}
