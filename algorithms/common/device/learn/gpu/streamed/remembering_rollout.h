#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/streamed/resident.h>
#include <learn/record.h>
// Rollouts of environments with one agent whose network remembers, all steps in one launch: the first 16 lanes of a warp
// have an environment each, all 32 share the work of the network.

namespace learn {

template <class E> class RememberingPolicy {
    static constexpr int policy = 0;
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using Actor = ResidentNetwork<typename N::Actor>;
    using Critic = ResidentNetwork<typename N::Critic>;
    static constexpr int warps = rollout_threads / 32;
    static constexpr uint32_t actor_words = uint32_t(Prepared<E, policy>::ActorOrder::size),
                              critic_words =
                                  N::shared ? 0u : uint32_t(Prepared<E, policy>::CriticOrder::size),
                              actor_rows = actor_words + critic_words,
                              critic_rows = actor_rows + uint32_t(warps * Actor::stage.words),
                              words = critic_rows +
                                      (N::shared ? 0u : uint32_t(warps * Critic::stage.words));

public:
    static constexpr bool chooses_by_warp = true;

    NACELLE_INLINE RememberingPolicy(const View<E>& view, const Arguments& a, size_t first)
        : RememberingPolicy(view, a, first, block_memory<int(words)>()) {}

    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        float choice[C::H::parts];
        see(rows.view, rows.env, uint32_t(rows.t), rows.mine, rows.seen);
        rows.for_own([&](int i) {
            C::draw(rows.view, a_, uint32_t(rows.t), rows.tick, rows.env, actor_.outputs(), choice);
            ActionOf<E> action;
            C::H::act(choice, action);
            rows.give(i, action);
        });
    }
    // What the last step led to. Rows go on to remember what they did before.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env) {
        each_row([&](int row, size_t its) {
            each_number(row, [&](int k, float& h) {
                a_.policy[policy].remembered[its * width + size_t(k)] = h;
            });
        });
        const bool mine = env < rows_;
        see(view, env, a_.steps, mine, obs_row<E>(view, mine ? env : 0));
    }

private:
    static constexpr size_t width = size_t(N::memory);

    NACELLE_INLINE RememberingPolicy(const View<E>& view, const Arguments& a, size_t first,
                                     uint32_t* shared)
        : a_(a),
          memory_(a.memory[0]),
          rows_(view.head.envs),
          first_(first),
          actor_(shared, shared + actor_rows + threadIdx.x / 32 * uint32_t(Actor::stage.words)),
          critic_(N::shared ? shared : shared + actor_words,
                  shared + (N::shared
                                ? actor_rows + threadIdx.x / 32 * uint32_t(Actor::stage.words)
                                : critic_rows + threadIdx.x / 32 * uint32_t(Critic::stage.words))) {
        const PolicyState& state = a.policy[policy];
        const auto take = [&](uint32_t* to, const float* from, uint32_t count) {
            NACELLE_ROLLED for (uint32_t i = 4 * threadIdx.x; i < count; i += 4 * rollout_threads) *
                reinterpret_cast<Four*>(to + i) = four_at(from + i);
        };
        take(shared, state.prepared, actor_words);
        if constexpr (!N::shared)
            take(shared + actor_words, state.prepared + Prepared<E, policy>::critic, critic_words);
        each_row([&](int row, size_t its) {
            each_number(row,
                        [&](int k, float& h) { h = state.remembered[its * width + size_t(k)]; });
        });
        __syncthreads();
    }
    // fn(row, its environment) for the warp's rows.
    template <class Fn> NACELLE_INLINE void each_row(Fn&& fn) {
        __syncwarp();
        NACELLE_ROLLED for (int row = 0; row < warp_rows; ++row) if (first_ + size_t(row) < rows_)
            fn(row, first_ + size_t(row));
        __syncwarp();
    }
    template <class Fn> NACELLE_INLINE void each_number(int row, Fn&& fn) {
        actor_.each_remembered(row, fn);
        if constexpr (!N::shared)
            critic_.each_remembered(row, [&](int k, float& h) { fn(N::Actor::memory + k, h); });
    }
    // Takes rows to step t: those of an episode that was cut short are valued where they stood, with what was remembered
    // until then; rows that begin an episode forget; then all are seen. Behind the last step only values are asked for.
    NACELLE_INLINE void see(const View<E>& view, size_t env, uint32_t t, bool mine,
                            const float* obs) {
        const bool closing = t == a_.steps;
        const size_t at = size_t(t) * rows_ + env;
        const uint8_t flag = mine && t > 0 ? memory_.flag[at - rows_] : uint8_t(0);
        const bool cut = is_cut(flag),
                   begins_here = mine && (t > 0 ? (flag & (terminated | truncated)) != 0
                                                : begins<E>(view, env));
        if (mine) {
            for (int k = 0; k < int(C::width); ++k) memory_.obs[at * C::width + size_t(k)] = obs[k];
            if (!closing) a_.policy[policy].forgot[at] = begins_here;
        }
        // One text for both: first the ends, if there are any.
        NACELLE_ROLLED for (int pass = __ballot_sync(~0u, cut) ? 0 : 1; pass < 2; ++pass) {
            if (pass == 1) forget(__ballot_sync(~0u, begins_here));
            if (pass == 1 && !closing && t % a_.sequence == 0) keep_begun(t);
            const float* const seen = pass == 1 ? obs
                                      : cut     ? obs_row<E, Role::final_obs>(view, env)
                                                : nullptr;
            if (seen && mine) {
                actor_.put(seen, memory_);
                if constexpr (!N::shared) critic_.put(seen, memory_);
            }
            const bool lasting = pass == 1 && !closing;
            if (N::shared || lasting) actor_.forward(lasting);
            if constexpr (!N::shared) critic_.forward(lasting);
            const float value =
                N::shared ? actor_.outputs()[N::value_output] : critic_.outputs()[0];
            if (pass == 0 && cut) memory_.final_value[at - rows_] = value;
            if (pass == 1 && mine) memory_.value[at] = value;
        }
    }
    NACELLE_INLINE void forget(uint32_t rows) {
        if (!rows) return;
        each_row([&](int row, size_t) {
            if (rows >> row & 1) each_number(row, [](int, float& h) { h = 0; });
        });
    }
    NACELLE_INLINE void keep_begun(uint32_t t) {
        float* const begun = a_.policy[policy].begun + t / a_.sequence * rows_ * width;
        each_row([&](int row, size_t its) {
            each_number(row, [&](int k, float& h) { begun[its * width + size_t(k)] = h; });
        });
    }

    const Arguments& a_;
    const Memory& memory_;
    size_t rows_, first_;
    Actor actor_;
    Either<N::shared, Actor, Critic> critic_;    // the actor's own where one network has both
};
template <class E>
NACELLE_INLINE void rollout_remembering(const View<E>& view, const Arguments& a, Items items) {
    const size_t first = size_t(items.begin) / 32 * warp_rows, lane = size_t(warp_lane()),
                 env = lane < size_t(warp_rows) ? first + lane : size_t(view.head.envs);
    RememberingPolicy<E> policy(view, a, first);
    rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, record_of<E>(view, a, 0));
    if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env);
}

}
