#pragma once
#include <learn/gpu/dense/inference.h>
#include <learn/gpu/rollout/followers.h>
#include <learn/gpu/tile/prepared.h>
// A policy in the loop of a rollout of teams where it plays the past. A warp takes bands of 16 rows through the networks of
// who plays them: rows that learn are in one band and their opponents in another where there are two; a band whose rows
// have several players goes through once for each, which neighbours that share an opponent make rare.

namespace learn {

template <class E, int policy> class PastSeat {
    using F = Followers<E, policy>;
    using C = Chooser<E, policy>;
    using N = typename C::N;
    using L = typename N::Actor;
    static constexpr int bands = F::bands;
    using Stage = RowStage<L, bands>;
    static constexpr bool apart = bands == 2 && Spec<policy>::past == Against::sides;

public:
    NACELLE_INLINE explicit PastSeat(const Arguments& a) : a_(a), stage_(own_stage()) {
        stage_.clear();
    }
    template <class Rows> NACELLE_INLINE void choose(Rows& rows) {
        rows.template by_warps<F::count>([&](int k) { return F::agent(a_, k); },
                                         [&](const WarpRow& row) { choose(rows, row); });
    }

private:
    template <class Rows> NACELLE_INLINE void choose(Rows& rows, const WarpRow& row) {
        const Memory& memory = a_.memory[C::group];
        const bool closing = uint32_t(rows.t) == a_.steps;
        const size_t own = rows.row(row), all = rows_of<E, typename C::G>(rows.view),
                     at = size_t(rows.t) * all + own;
        const float* const obs = rows.obs(row);
        const int player = row.there ? player_of<policy>(a_, row.env, row.id) : present;
        const bool learns = player == present;
        const int lane = warp_lane(), place = apart ? lane / 2 + (learns ? 0 : warp_rows) : lane;
        const float* cut = nullptr;
        if (row.there && learns && rows.t > 0)
            cut = C::cut_at(rows.view, a_, uint32_t(rows.t) - 1, own);
        if (!N::shared && cut) C::keep_cut(rows.view, a_, uint32_t(rows.t) - 1, own);
        // First the ends of those that were cut short, if there are any: one text for both.
        if (N::shared || !closing)
            NACELLE_ROLLED for (int pass = N::shared && __ballot_sync(~0u, cut != nullptr) ? 0 : 1;
                                pass < 2; ++pass) {
                // Nobody learns from an opponent: one who waits, or stands at the end, is not asked.
                const bool asked = pass == 0
                                       ? cut != nullptr
                                       : row.there && (learns || (!closing && rows.acts(row)));
                if (asked) stage_.put(place, pass == 0 ? cut : obs, seen_by<E, policy>(a_, player));
                over_players(asked, player, place, [&](const float* out) {
                    if constexpr (N::shared) {
                        if (pass == 0) memory.final_value[at - all] = out[N::value_output];
                        else if (learns) memory.value[at] = out[N::value_output];
                    }
                    if (pass == 1 && !closing) decide<E, policy>(a_, rows, row, out);
                });
                if (pass == 1 && row.there && !asked && !closing) rows.give(row, {});
            }
        if (closing && row.there) keep_row<int(C::width)>(memory, at, false, obs);
    }
    // use(outputs) for rows that ask, after their player's network took them through; the whole warp comes along.
    template <class Use>
    NACELLE_INLINE void over_players(bool asked, int player, int place, Use&& use) {
        NACELLE_ROLLED for (int band = 0; band < bands; ++band) {
            uint32_t left = __ballot_sync(~0u, asked && place / warp_rows == band);
            NACELLE_ROLLED while (left) {
                const int now = __shfl_sync(~0u, player, __ffs(int(left)) - 1);
                const float* const prepared = prepared_of<E, policy>(a_, now);
                stage_.forward_band(TilesInMemory<L::planes>{own_words(prepared)},
                                    prepared + layout_of<L>.bias_start, band);
                const bool mine = (left >> warp_lane() & 1) && player == now;
                if (mine) use(stage_.outputs(place));
                left &= ~__ballot_sync(~0u, mine);
            }
        }
    }
    // This warp's.
    static NACELLE_INLINE Stage& own_stage() {
        __shared__ Stage stages[(Shape<E>::threads + 31) / 32];
        return stages[threadIdx.x / 32];
    }

    const Arguments& a_;
    Stage& stage_;
};

}
