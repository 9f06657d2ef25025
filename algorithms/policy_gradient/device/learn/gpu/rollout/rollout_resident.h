#pragma once
#include <learn/gpu/dense/resident_rows.h>
#include <learn/gpu/rollout/one_agent.h>
// Rollouts and evaluations of environments with one agent whose network is too wide for a warp, but lives in a block's
// shared memory: all steps in one launch. The first threads of a block have an environment each, all its warps share the
// work of the network.

namespace learn {

template <class E, bool keeps> class ResidentPolicy {
    using L = typename Networks<E, 0>::Actor;
    static constexpr int stages =
        resident_stages_for<int>(L::width, L::count, L::planes, resident_envs);
    using Block = ResidentBlock<L, resident_envs, stages>;
    using Network = ResidentNetwork<Block>;

public:
    static constexpr bool chooses_by_warp = true;

    NACELLE_INLINE ResidentPolicy(const View<E>& view, const Arguments& a)
        : seat_(view, a),
          memory_(a.memory[0]),
          network_(a.policy[0].prepared, block_memory<Block::layout.words>()) {
        network_.await();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        auto dice = seat_.dice(rows);
        rows.for_own([&](int i) {
            const float* const obs = rows.obs(i);
            put_row(obs);
            seat_.keep_obs(seat_.place(rows.env, rows.t), obs);
        });
        network_.forward();
        rows.for_own([&](int i) {
            if (seat_.was_cut()) seat_.keep_cut(rows.view, rows.env, rows.t - 1);
            seat_.decide(rows, i, network_.outputs(int(threadIdx.x)), dice);
        });
    }
    NACELLE_INLINE auto record(const View<E>& view) { return seat_.record(view); }
    // What the last step led to. Values that are still missing come from a pass of their own.
    NACELLE_INLINE void close_rollout(const View<E>& view, size_t env, int steps) const {
        if (!seat_.has(env)) return;
        if (seat_.was_cut()) seat_.keep_cut(view, env, steps - 1);
        seat_.keep_obs(seat_.place(env, steps), obs_row<E>(view, env));
    }

private:
    // Of this thread, which may have the numbers in registers.
    NACELLE_INLINE void put_row(const float* obs) const {
        const int row = int(threadIdx.x);
        const auto put = [&](int k) NACELLE_INLINE_LAMBDA {
            put_seen<0, L::in>(network_, row, k, obs, memory_);
        };
        if constexpr (L::in <= widest_in_registers) {
            NACELLE_UNROLL for (int k = 0; k < Network::pairs; ++k) put(k);
        } else NACELLE_FOURFOLD for (int k = 0; k < Network::pairs; ++k) put(k);
    }

    AloneSeat<E, keeps> seat_;
    const Memory& memory_;
    Network network_;
};

// fn(env, policy) for the environment of each thread, or the number behind the last one.
template <class E, bool keeps, class Fn>
NACELLE_INLINE void with_resident_policy(const View<E>& view, const Arguments& a, Items items,
                                         Fn&& fn) {
    const size_t env = threadIdx.x < uint32_t(resident_envs)
                           ? size_t(items.begin) / resident_threads * resident_envs + threadIdx.x
                           : size_t(view.head.envs);
    ResidentPolicy<E, keeps> policy(view, a);
    fn(env, policy);
}
template <class E>
NACELLE_INLINE void rollout_resident(const View<E>& view, const Arguments& a, Items items) {
    with_resident_policy<E, true>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.steps), policy, policy.record(view));
        if (!time_of(view.head, 0).stopped) policy.close_rollout(view, env, int(a.steps));
    });
}
template <class E>
NACELLE_INLINE void play_resident(const View<E>& view, const Arguments& a, Items items) {
    with_resident_policy<E, false>(view, a, items, [&](size_t env, auto& policy) {
        rollout<E>(view, Items{env, env + 1}, 0, int(a.played.steps), policy,
                   FirstEpisode<E>(view, a.played, env));
    });
}

}
