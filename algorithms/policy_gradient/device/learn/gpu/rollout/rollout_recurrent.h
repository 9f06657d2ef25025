#pragma once
#include <learn/formulas/record.h>
#include <learn/gpu/recurrent/remembering_network.h>
#include <learn/gpu/rollout/choices.h>
// Rollouts of environments with one agent whose network remembers, all steps in one launch: the lanes of a block's first
// warp have an environment each, all warps share the work of the network.

namespace learn {

template <class E> class RememberingPolicy {
    static constexpr int policy = 0;
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using Actor = RememberingNetwork<typename N::Actor>;
    using Critic = Either<!N::separate, Actor, RememberingNetwork<typename N::Critic>>;
    static constexpr int threads = Actor::threads, warps = threads / 32,
                         critic_rows = Actor::stage.words,
                         flags = critic_rows + (!N::separate ? 0 : Critic::stage.words);

public:
    static constexpr bool chooses_by_warp = true;
    static constexpr int words = flags + 4;

    NACELLE_INLINE RememberingPolicy(const View<E>& view, const Arguments& a, size_t first)
        : a_(a),
          memory_(a.memory[0]),
          state_(a.policy[policy]),
          envs_(view.head.envs),
          first_(first),
          shared_(block_memory<words>()),
          actor_(state_.prepared, shared_),
          critic_(!N::separate ? state_.prepared : state_.prepared + Prepared<E, policy>::critic,
                  shared_ + (!N::separate ? 0 : critic_rows)) {
        Actor::clear(shared_, threads);
        if constexpr (N::separate) Critic::clear(shared_ + critic_rows, threads);
        __syncthreads();
        each_number([&](size_t, size_t its, int k, float& h) {
            h = state_.remembered[its * width + size_t(k)];
        });
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        see(rows.view, rows.env, uint32_t(rows.t), rows.mine, rows.seen);
        rows.for_own([&](int row) {
            float choice[C::H::parts];
            C::draw(rows.view, a_, uint32_t(rows.t), rows.tick, rows.env, actor_.outputs(row),
                    choice);
            ActionOf<E> action;
            C::H::act(choice, action);
            rows.give(row, action);
        });
    }
    // What the last step led to. Rows go on to remember what they did before.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env) {
        each_number([&](size_t, size_t its, int k, float& h) {
            state_.remembered[its * width + size_t(k)] = h;
        });
        const bool mine = env < envs_;
        see(view, env, a_.steps, mine, obs_row<E>(view, mine ? env : 0));
    }

private:
    static constexpr size_t width = size_t(N::memory);

    // fn(row, its environment, number, what it remembers there) for this lane's share of the block's rows.
    template <class Fn> NACELLE_INLINE void each_number(Fn&& fn) const {
        NACELLE_ROLLED for (int row = int(threadIdx.x) / 32; row < remembering_rows; row += warps) {
            const size_t its = first_ + size_t(row);
            if (its >= envs_) continue;
            actor_.each_remembered(row, [&](int k, float& h) { fn(size_t(row), its, k, h); });
            if constexpr (N::separate)
                critic_.each_remembered(
                    row, [&](int k, float& h) { fn(size_t(row), its, N::Actor::memory + k, h); });
        }
    }
    // Takes rows to step t: those of an episode that was cut short are valued where they stood, with what was remembered
    // until then; rows that begin an episode forget; then all are seen. Behind the last step only values are asked for.
    NACELLE_INLINE void see(const View<E>& view, size_t env, uint32_t t, bool mine,
                            const float* obs) const {
        const bool closing = t == a_.steps;
        const size_t at = size_t(t) * envs_ + env;
        const uint8_t flag = mine && t > 0 ? memory_.flag[at - envs_] : uint8_t(0);
        const bool cut = is_cut(flag),
                   begun = mine &&
                           (t > 0 ? (flag & (terminated | truncated)) != 0 : begins<E>(view, env));
        if (mine) {
            keep_row<int(C::width)>(memory_, at, false, obs);
            if (!closing) state_.forgot[at] = begun;
        }
        if (threadIdx.x < 32) {
            const uint32_t all_cut = __ballot_sync(~0u, cut), all_begun = __ballot_sync(~0u, begun);
            if (threadIdx.x == 0) {
                shared_[flags] = all_cut;
                shared_[flags + 1] = all_begun;
            }
        }
        __syncthreads();
        const uint32_t forgets = shared_[flags + 1];
        // One text for both: first the ends, if there are any.
        NACELLE_ROLLED for (int pass = shared_[flags] ? 0 : 1; pass < 2; ++pass) {
            const bool lasting = pass == 1 && !closing;
            if (pass == 1 && forgets)
                each_number([&](size_t row, size_t, int, float& h) {
                    if (forgets >> row & 1) h = 0;
                });
            if (pass == 0 ? cut : mine) {
                const float* const seen = pass == 0 ? obs_row<E, Role::final_obs>(view, env) : obs;
                actor_.put(warp_lane(), seen, memory_);
                if constexpr (N::separate) critic_.put(warp_lane(), seen, memory_);
            }
            if (lasting && t % a_.sequence == 0) {
                float* const to = state_.begun + t / a_.sequence * envs_ * width;
                each_number(
                    [&](size_t, size_t its, int k, float& h) { to[its * width + size_t(k)] = h; });
            }
            __syncthreads();
            if (!N::separate || lasting) actor_.forward(warps, lasting);
            if constexpr (N::separate) critic_.forward(warps, lasting);
            if (threadIdx.x >= 32) continue;
            if (N::values_elsewhere) {
                if (pass == 0 && cut) C::keep_cut(view, a_, t - 1, env);
                continue;
            }
            const float value = !N::separate ? actor_.outputs(warp_lane())[N::value_output]
                                             : critic_.outputs(warp_lane())[0];
            if (pass == 0 && cut) memory_.final_value[at - envs_] = value;
            if (pass == 1 && mine) memory_.value[at] = value;
        }
    }

    const Arguments& a_;
    const Memory& memory_;
    const PolicyState& state_;
    size_t envs_, first_;
    uint32_t* shared_;
    Actor actor_;
    Critic critic_;    // the actor's rows where one network has both
};
template <class E>
NACELLE_INLINE void rollout_remembering(const View<E>& view, const Arguments& a, Items items) {
    using Network = RememberingNetwork<typename Networks<E, 0>::Actor>;
    const size_t first = size_t(items.begin) / Network::threads * remembering_rows,
                 env = threadIdx.x < 32 ? first + threadIdx.x : size_t(view.head.envs);
    RememberingPolicy<E> policy(view, a, first);
    rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, record_of<E>(view, a, 0));
    if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env);
}

}
