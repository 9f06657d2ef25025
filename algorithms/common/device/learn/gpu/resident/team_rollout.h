#pragma once
#include <learn/gpu/fused/team_rollout.h>
#include <learn/gpu/resident/rows.h>
// Rollouts of small teams whose networks are too wide for a warp, all steps in one launch: between two steps the rows of
// all teams of a block go through a policy's network together, and each warp brings the weights that it needs.

namespace learn {

template <class E, int policy, bool random> struct TeamBlockFor { static constexpr int words = 0; };
template <class E, int policy> struct TeamBlockFor<E, policy, false> {
    static constexpr int threads = Shape<E>::threads;
    using Block =
        ResidentBlock<typename Networks<E, policy>::Actor,
                      resident_team_rows(threads / Shape<E>::lanes, Followers<E, policy>::count),
                      team_stages, threads / 32>;
    static constexpr int words = Block::layout.words;
};
template <class E, int policy>
using TeamBlock = TeamBlockFor<E, policy, Spec<policy>::kind == Kind::random>;

// Behind the memory of the teams the networks have theirs, policy by policy.
template <class E> constexpr int team_words_before(int count) {
    int words = 0;
    for_each_policy<E>(
        [&]<int policy>() { words += policy < count ? TeamBlock<E, policy>::words : 0; });
    return words;
}
template <class E> NACELLE_INLINE uint32_t* team_networks() {
#if defined(NACELLE_EMULATE)
    return emulated_memory<team_words_before<E>(policy_count<E>())>;
#else
    return reinterpret_cast<uint32_t*>(nacelle_shared + rounded_up(Shape<E>::shared_bytes, 16));
#endif
}

template <class E, int policy> class ResidentSeat {
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using F = Followers<E, policy>;
    using Network = ResidentNetwork<typename TeamBlock<E, policy>::Block>;
    static constexpr bool learns = Spec<policy>::kind == Kind::trained;

public:
    NACELLE_INLINE explicit ResidentSeat(const Arguments& a)
        : a_(a),
          network_(a.policy[policy].prepared, team_networks<E>() + team_words_before<E>(policy)) {
        network_.await();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        const Memory& memory = a_.memory[C::group];
        const auto agent = [&](int k) { return F::agent(a_, k); };
        if (uint32_t(rows.t) == a_.steps) {
            if (learns)
                rows.template by_warps<F::count>(agent, [&](const WarpRow& row) {
                    if (row.there) close(rows, row);
                });
            return;
        }
        rows.template by_warps<F::count>(agent, [&](const WarpRow& row) {
            if (!row.there) return;
            const float* const obs = rows.obs(row);
            NACELLE_FOURFOLD for (int k = 0; k < Network::pairs; ++k)
                put_seen<policy, int(C::width)>(network_, place<Rows>(row), k, obs, memory);
        });
        network_.forward();
        rows.template by_warps<F::count>(agent, [&](const WarpRow& row) {
            if (!row.there) return;
            const size_t own = rows.row(row);
            const float* const out = network_.outputs(place<Rows>(row));
            if (learns && rows.t > 0) C::keep_cut(rows.view, a_, uint32_t(rows.t) - 1, own);
            if constexpr (N::shared)
                memory.value[size_t(rows.t) * rows_of<E, typename C::G>(rows.view) + own] =
                    out[N::value_output];
            decide<E, policy>(a_, rows, row, out);
        });
    }

private:
    // Among the block's rows of this policy.
    template <class Rows> static NACELLE_INLINE int place(const WarpRow& row) {
        return row.place + (Rows::lanes > 32 ? 0 : int(threadIdx.x) / 32 * Rows::teams * F::count);
    }
    template <class Rows> NACELLE_INLINE void close(Rows& rows, const WarpRow& row) const {
        const size_t own = rows.row(row), all = rows_of<E, typename C::G>(rows.view);
        if (a_.steps > 0) C::keep_cut(rows.view, a_, a_.steps - 1, own);
        const float* const obs = rows.obs(row);
        float* const to = a_.memory[C::group].obs + (a_.steps * all + own) * C::width;
        for (size_t k = 0; k < C::width; ++k) to[k] = obs[k];
    }

    const Arguments& a_;
    Network network_;
};
template <class E>
NACELLE_INLINE void rollout_resident_teams(const View<E>& view, const Arguments& a, Items items) {
    rollout_of_teams<E, ResidentSeat>(view, a, items);
}

}
