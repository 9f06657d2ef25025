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
    static constexpr bool chooses_by_warp = true;

    NACELLE_INLINE WarpPilot(const View<E>& view, const Arguments& a, Desk<L>& desk, float* bias)
        : Seat(view, a, desk, bias) {}
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        settle(rows.view, rows.env, rows.t - 1);
        const size_t at = size_t(rows.t) * rows_ + rows.env;
        rows.for_own([&](int i) {
            const float* const obs = rows.obs(i);
            float* const kept = memory_.obs + at * size_t(width);
            for (int k = 0; k < width; ++k) kept[k] = obs[k];
            put(obs);
        });
        think();
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
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), pilot, record_of<E>(view, a, 0));
        if (!time_of(view.head, 0).stopped) pilot.land(view, env);
    });
}

}
