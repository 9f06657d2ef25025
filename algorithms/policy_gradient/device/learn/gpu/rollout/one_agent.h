#pragma once
#include <learn/formulas/choice.h>
#include <learn/formulas/observed.h>
// Environments with one agent whose policy is in the loop of a GPU's steps: what it writes down of a row where a rollout
// is kept, and how it chooses by the network's outputs.

namespace learn {

template <class E, bool keeps> class AloneSeat {
    static constexpr int policy = 0;
    using N = Networks<E, policy>;
    using H = typename N::H;
    static constexpr int width = width_of<E, policy>, choices = choices_in<ActionOf<E>>;

public:
    NACELLE_INLINE AloneSeat(const View<E>& view, const Arguments& a)
        : a_(a), memory_(a.memory[0]), rows_(view.head.envs) {}

    NACELLE_INLINE size_t place(size_t env, int t) const { return size_t(t) * rows_ + env; }
    NACELLE_INLINE bool has(size_t env) const { return env < rows_; }
    NACELLE_INLINE void keep_obs(size_t at, const float* obs) const {
        if constexpr (keeps) keep_row<width>(memory_, at, false, obs);
    }
    // Writes steps down, and notes here whether the last one cut an episode short: read back from memory, the flag would
    // be as late as a layer's outputs.
    NACELLE_INLINE auto record(const View<E>& view) {
        return Noted{record_of<E>(view, a_, 0), *this};
    }
    NACELLE_INLINE bool was_cut() const { return keeps && cut_; }
    // The random numbers of this step's choice.
    template <class Rows> static NACELLE_INLINE auto dice(const Rows& rows) {
        Dice<E, policy> dice(rows.view, rows.tick, rows.env);
        if constexpr (keeps) dice.prepare();
        return dice;
    }
    // Where it stood then: for a pass over such ends behind the rollout.
    NACELLE_INLINE void keep_cut(const View<E>& view, size_t env, int t) const {
        keep_row<width>(memory_, place(env, t), true, obs_row<E, Role::final_obs>(view, env));
    }
    template <class Rows>
    NACELLE_INLINE void decide(const Rows& rows, int i, const float* outputs,
                               Dice<E, policy>& dice) const {
        const size_t at = place(rows.env, rows.t);
        float out[N::Actor::out], choice[H::parts];
        NACELLE_UNROLL for (int k = 0; k < N::Actor::out; ++k) out[k] = outputs[k];
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
    }

private:
    struct Noted {
        AloneRecord<E> to;
        AloneSeat& seat;
        NACELLE_INLINE void operator()(const Now& now, const ActionOf<E>& action,
                                       const Outcome& outcome) const {
            to(now, action, outcome);
            seat.cut_ = is_cut(flag_of(outcome, true));
        }
        NACELLE_INLINE float* overview(size_t env, int t, bool final) const
            requires(overview_width > 0) {
            return to.overview(env, t, final);
        }
    };

    const Arguments& a_;
    const Memory& memory_;
    size_t rows_;
    bool cut_ = false;
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
// One step of an evaluation of one launch a step; the choices are in the action arrays.
template <class E>
NACELLE_INLINE void play_once(const View<E>& view, const Arguments& a, Items items) {
    rollout<E>(view, items, a.step, Index<1>{}, GivenPolicy<E>{},
               FirstEpisode<E>(view, a.played, size_t(items.begin)));
}

}
