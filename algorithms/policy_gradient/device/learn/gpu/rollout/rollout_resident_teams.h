#pragma once
#include <learn/gpu/dense/resident_rows.h>
#include <learn/gpu/rollout/rollout_teams.h>
// Rollouts of small teams whose networks are too wide for a warp, all steps in one launch: between two steps the rows of
// all teams of a block go through a policy's network together, and each warp brings the weights that it needs.

namespace learn {

// Rows of one team that go through a network at once: of two sides one at a time.
template <class E, int policy>
inline constexpr int rows_of_team = Followers<E, policy>::count /
                                    (Spec<policy>::past == Against::sides ? 2 : 1);
template <class E, int policy, bool random> struct TeamBlockFor { static constexpr int words = 0; };
template <class E, int policy> struct TeamBlockFor<E, policy, false> {
    static constexpr int threads = Shape<E>::threads;
    using Block =
        ResidentBlock<typename Networks<E, policy>::Actor,
                      resident_team_rows(threads / Shape<E>::lanes, rows_of_team<E, policy>),
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

// What a row sees behind the last step, which the next rollout begins with.
template <class E, int policy, class Rows>
NACELLE_INLINE void close_row(const Arguments& a, Rows& rows, const WarpRow& row) {
    using C = Chooser<E, policy>;
    const size_t own = rows.row(row), all = rows_of<E, typename C::G>(rows.view);
    if (a.steps > 0) C::keep_cut(rows.view, a, a.steps - 1, own);
    keep_row<int(C::width)>(a.memory[C::group], a.steps * all + own, false,
                            C::obs_of(rows.view, a, own));
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
                    if (row.there) close_row<E, policy>(a_, rows, row);
                });
            return;
        }
        rows.template by_warps<F::count>(agent, [&](const WarpRow& row) {
            if (!row.there) return;
            const auto obs = C::S::at_step(rows.view, a_, uint32_t(rows.t), rows.row(row), true);
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

    const Arguments& a_;
    Network network_;
};

// Against the past: the block's rows of one player after the other go through, all that learn first, and then the
// opponents, of whom neighbours have the same.
template <class E, int policy> class ResidentPastSeat {
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using F = Followers<E, policy>;
    using Network = ResidentNetwork<typename TeamBlock<E, policy>::Block>;
    static constexpr int nobody = 0x7fffffff;

public:
    NACELLE_INLINE explicit ResidentPastSeat(const Arguments& a)
        : a_(a),
          network_(a.policy[policy].prepared, team_networks<E>() + team_words_before<E>(policy)) {
        network_.await();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        const Memory& memory = a_.memory[C::group];
        if (uint32_t(rows.t) == a_.steps)
            return each_row(rows, [&](const WarpRow& row) {
                if (row.there) close_row<E, policy>(a_, rows, row);
            });
        each_row(rows, [&](const WarpRow& row) {
            if (!row.there || asks(rows, row)) return;
            rows.give(row, {});
        });
        NACELLE_ROLLED for (int now = next_player(rows, present - 1); now != nobody;
                            now = next_player(rows, now)) {
            const Memory seen = seen_by<E, policy>(a_, now);
            if (now != loaded_) network_.change_to(prepared_of<E, policy>(a_, now));
            loaded_ = now;
            each_row(rows, [&](const WarpRow& row) {
                if (!plays(rows, row, now)) return;
                const float* const obs = rows.obs(row);
                NACELLE_FOURFOLD for (int k = 0; k < Network::pairs; ++k)
                    put_seen<policy, int(C::width)>(network_, place<Rows>(row), k, obs, seen);
            });
            network_.forward();
            each_row(rows, [&](const WarpRow& row) {
                if (!plays(rows, row, now)) return;
                const size_t own = rows.row(row);
                const float* const out = network_.outputs(place<Rows>(row));
                if (now == present) {
                    if (rows.t > 0) C::keep_cut(rows.view, a_, uint32_t(rows.t) - 1, own);
                    if constexpr (N::shared)
                        memory.value[size_t(rows.t) * rows_of<E, typename C::G>(rows.view) + own] =
                            out[N::value_output];
                }
                decide<E, policy>(a_, rows, row, out);
            });
        }
    }

private:
    template <class Rows, class Fn> NACELLE_INLINE void each_row(Rows& rows, Fn&& fn) const {
        rows.template by_warps<F::count>([&](int k) { return F::agent(a_, k); }, fn);
    }
    NACELLE_INLINE int player(const WarpRow& row) const {
        return player_of<policy>(a_, row.env, row.id);
    }
    // Nobody learns from an opponent: one who waits is not asked.
    template <class Rows> NACELLE_INLINE bool asks(Rows& rows, const WarpRow& row) const {
        return row.there && (player(row) == present || rows.acts(row));
    }
    template <class Rows> NACELLE_INLINE bool plays(Rows& rows, const WarpRow& row, int now) const {
        return asks(rows, row) && player(row) == now;
    }
    // Of the block's rows that ask, behind this player; the same for all threads.
    template <class Rows> NACELLE_INLINE int next_player(Rows& rows, int behind) const {
        __shared__ int next;
        int own = nobody;
        each_row(rows, [&](const WarpRow& row) {
            if (asks(rows, row) && player(row) > behind) own = min(own, player(row));
        });
        if (threadIdx.x == 0) next = nobody;
        __syncthreads();
        if (own != nobody) atomicMin(&next, own);
        __syncthreads();
        const int found = next;
        __syncthreads();
        return found;
    }
    // Among the block's rows of one player; two sides never go through together.
    template <class Rows> static NACELLE_INLINE int place(const WarpRow& row) {
        constexpr int sides = F::count / rows_of_team<E, policy>;
        return (row.place +
                (Rows::lanes > 32 ? 0 : int(threadIdx.x) / 32 * Rows::teams * F::count)) /
               sides;
    }

    const Arguments& a_;
    Network network_;
    int loaded_ = present;
};
template <class E, int policy>
using WideSeat = Either<plays_past<policy>, ResidentPastSeat<E, policy>, ResidentSeat<E, policy>>;

template <class E>
NACELLE_INLINE void rollout_resident_teams(const View<E>& view, const Arguments& a, Items items) {
    rollout_of_teams<E, WideSeat>(view, a, items);
}

}
