#pragma once
#include <learn/gpu/rollout/choices.h>
#include <learn/gpu/rollout/past_opponent.h>
#include <learn/gpu/tile/prepared.h>
// Rollouts of teams on tensor cores, all steps in one launch: between two steps each warp takes 32 rows of its teams
// through the network at a time, a lane for each row.

namespace learn {

// Tiles of weights of all networks that choose: where those of one plane are few, they stay in registers.
template <class E> constexpr bool teams_keep_weights() {
    int tiles = 0;
    bool fit = true;
    for_each_policy<E>([&]<int policy>() {
        if constexpr (Spec<policy>::kind != Kind::random) {
            using L = typename Networks<E, policy>::Actor;
            tiles += layout_of<L>.weight_tiles;
            fit = fit && keeps_weights<L>;
        }
    });
    return fit && tiles <= most_in_team_registers;
}

// One policy in the loop, and what it writes down.
template <class E, int policy> class TeamSeat {
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using L = typename N::Actor;
    using F = Followers<E, policy>;
    using Stage = RowStage<L, F::bands>;
    using Weights = Either<teams_keep_weights<E>(), WeightsInRegisters<layout_of<L>.weight_tiles>,
                           TilesInMemory<L::planes>>;
    static constexpr bool learns = Spec<policy>::kind == Kind::trained;

public:
    NACELLE_INLINE explicit TeamSeat(const Arguments& a)
        : a_(a), stage_(own_stage()), weights_{own_words(a.policy[policy].prepared)} {
        stage_.clear();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        const bool closing = uint32_t(rows.t) == a_.steps;
        if (closing && !learns) return;
        rows.template by_warps<F::count>([&](int k) { return F::agent(a_, k); },
                                         [&](const WarpRow& row) { choose(rows, row, closing); });
    }

private:
    template <class Rows> NACELLE_INLINE void choose(Rows& rows, const WarpRow& row, bool closing) {
        const Memory& memory = a_.memory[C::group];
        const size_t own = rows.row(row), all = rows_of<E, typename C::G>(rows.view),
                     at = size_t(rows.t) * all + own;
        const auto obs = C::S::at_step(rows.view, a_, uint32_t(rows.t), own, true);
        const float* cut = nullptr;
        if (learns && rows.t > 0 && row.there)
            cut = C::cut_at(rows.view, a_, uint32_t(rows.t) - 1, own);
        if (!N::shared && cut) C::keep_cut(rows.view, a_, uint32_t(rows.t) - 1, own);
        // First the ends of those that were cut short, if there are any: one text for both.
        if (N::shared || !closing)
            NACELLE_ROLLED for (int pass = N::shared && __ballot_sync(~0u, cut != nullptr) ? 0 : 1;
                                pass < 2; ++pass) {
                if (pass == 0 ? cut != nullptr : row.there)
                    stage_.put(pass == 0 ? decltype(obs){cut} : obs, memory);
                stage_.forward(weights_, a_.policy[policy].prepared + layout_of<L>.bias_start);
                if constexpr (N::shared)
                    if (pass == 0 && cut)
                        memory.final_value[at - all] = stage_.outputs()[N::value_output];
            }
        if (!row.there) return;
        if constexpr (N::shared) memory.value[at] = stage_.outputs()[N::value_output];
        if (closing) {
            keep_row<int(C::width)>(memory, at, false, C::obs_of(rows.view, a_, own));
            return;
        }
        decide<E, policy>(a_, rows, row, stage_.outputs());
    }
    // This warp's.
    static NACELLE_INLINE Stage& own_stage() {
        __shared__ Stage stages[(Shape<E>::threads + 31) / 32];
        return stages[threadIdx.x / 32];
    }

    const Arguments& a_;
    Stage& stage_;
    Weights weights_;
};
// Of one that acts at random.
template <class E, int policy> class RandomSeat {
    using F = Followers<E, policy>;

public:
    NACELLE_INLINE explicit RandomSeat(const Arguments& a) : a_(a) {}
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        if (uint32_t(rows.t) == a_.steps) return;
        rows.template by_warps<F::count>([&](int k) { return F::agent(a_, k); },
                                         [&](const WarpRow& row) {
                                             if (row.there)
                                                 decide<E, policy>(a_, rows, row, nullptr);
                                         });
    }

private:
    const Arguments& a_;
};
// One whose networks are fused, by itself or against the past.
template <class E, int policy>
using FusedSeat = Either<plays_past<policy>, PastSeat<E, policy>, TeamSeat<E, policy>>;

// Every policy's seat; those of policies with networks are of the given kind.
template <class E, template <class, int> class Seat, int policy, bool random> struct SeatFor {
    using type = Seat<E, policy>;
};
template <class E, template <class, int> class Seat, int policy>
struct SeatFor<E, Seat, policy, true> {
    using type = RandomSeat<E, policy>;
};
template <class E, template <class, int> class Seat, int policy>
using SeatOf = typename SeatFor<E, Seat, policy, Spec<policy>::kind == Kind::random>::type;

template <class E, template <class, int> class Seat, class Policies> struct TeamPolicies;
template <class E, template <class, int> class Seat, int... p>
struct TeamPolicies<E, Seat, Ints<p...>> : SeatOf<E, Seat, p>... {
    static constexpr bool chooses_by_warp = true;
    NACELLE_INLINE explicit TeamPolicies(const Arguments& a) : SeatOf<E, Seat, p>(a)... {}
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) { (choose_one<p>(rows), ...); }

private:
    template <int policy, class Rows> NACELLE_INLINE void choose_one(Rows& rows) {
        if constexpr (Spec<policy>::group == group_index<E, typename Rows::Group>())
            SeatOf<E, Seat, policy>::choose(rows);
    }
};
template <class E, template <class, int> class Seat>
NACELLE_INLINE void rollout_of_teams(const View<E>& view, const Arguments& a, Items items) {
    TeamPolicies<E, Seat, decltype(count_to<policy_count<E>()>{})> policies(a);
    rollout<E>(view, items, 0, int(a.steps), policies, record_of<E>(view, a, 0));
}
template <class E>
NACELLE_INLINE void rollout_teams(const View<E>& view, const Arguments& a, Items items) {
    rollout_of_teams<E, FusedSeat>(view, a, items);
}
// Blocks that a multiprocessor is to have at once: a thread then has 128 registers.
template <class E> inline constexpr int team_blocks = max(most_team_threads / Shape<E>::threads, 1);

}
