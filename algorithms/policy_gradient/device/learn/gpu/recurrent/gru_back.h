#pragma once
#include <learn/gpu/recurrent/gru_block.h>
// The way back of a gru through all steps of its sequences; gru_block.h says how. Slopes along what is remembered stay in
// registers; a step leaves those along its gates, of what is seen and of what is remembered.

namespace learn {

template <class E, int policy, int room> class GruBack {
public:
    NACELLE_INLINE GruBack(const View<E>& view, const CellArguments& a, uint32_t block)
        : cell_(a.cell),
          its_(a, block),
          block_(block),
          steps_(a.all.sequence),
          shared_(reinterpret_cast<unsigned char*>(
              block_memory<int(gru_back_bytes(planes, room) / 4)>())),
          past_(view, a, block, shared_) {
        NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate) {
            NACELLE_UNROLL for (int tile = 0; tile < tiles; ++tile) take(gate, tile);
        }
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) there_[half] =
            past_.first(its_.g + 8 * half) != nullptr;
        NACELLE_UNROLL for (int i = 0; i < 4; ++i) later_[i] = 0;
    }
    NACELLE_INLINE void run() {
        NACELLE_UNROLL for (uint32_t i = 1; i < gru_stages; ++i) bring(steps_ - i);
        await_groups<int(gru_stages) - 2>();
        __syncthreads();
        NACELLE_ROLLED for (uint32_t t = steps_; t-- > 0;) {
            if (t + 1 == steps_ || t % gru_chunk == gru_chunk - 1) past_.look(t);
            const bool forgot[2] = {past_.forgot(its_.g, t), past_.forgot(its_.g + 8, t)};
            const Factor slopes{factor(t)};
            float straight[4];
            if (its_.active) step(t, slopes, straight);
            else leave_nothing(slopes);
            await_groups<int(gru_stages) - 3>();
            __syncthreads();
            bring(t - (gru_stages - 1));
            if (its_.active) go_back(slopes, straight, forgot);
        }
    }

private:
    static constexpr int planes = Spec<policy>::planes, tiles = room / 16;
    using Factor = GruFactor<planes, 3 * room>;
    using Level = GruFactor<planes, room>;
    using Kept = GruKept<planes>;
    using Words = typename Kept::Words;

    // A tile of the matrix, turned: what 16 neurons' gates do to this warp's neurons.
    NACELLE_INLINE void take(int gate, int tile) {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
                const uint32_t neuron = 16 * uint32_t(tile) + 2 * its_.t + 8 * k;
                const auto at = [&](uint32_t from) -> uint32_t {
                    return from < its_.neurons
                               ? cell_.own
                                     .at[size_t(p) * cell_.own.plane +
                                         place_in_tiles(uint32_t(gate) * its_.neurons + from,
                                                        8 * its_.warp + its_.g, cell_.own.across)]
                               : 0u;
                };
                weights_[gate][tile].at[p][k] = at(neuron) | at(neuron + 1) << 16;
            }
        }
    }
    // What came from above, what was before the step, and what the way forward kept. None before the first step.
    NACELLE_INLINE void bring(uint32_t t) const {
        if (t < steps_) {
            const size_t row = size_t(t) * its_.across + block_ * gru_sequences;
            level(t, 0).bring(cell_.slopes, row);
            level(t, 1).bring(cell_.before, row);
            const Words* const from =
                reinterpret_cast<const Words*>(cell_.kept) + Kept::place(its_, block_, t);
            NACELLE_UNROLL for (uint32_t v = 0; v < Kept::vectors; ++v) if (its_.active)
                bring_async(kept(t) + 32 * v, from + 32 * v, true);
        }
        close_group();
    }
    // Leaves the slopes along the gates, and says in `straight` what goes back past them.
    NACELLE_INLINE void step(uint32_t t, const Factor& slopes, float (&straight)[4]) {
        Kept kept;
        kept.get(this->kept(t));
        float above[4], before[4], by[4][4];
        level(t, 0).get(its_, its_.neuron, above);
        level(t, 1).get(its_, its_.neuron, before);
        NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
            const bool mine = there_[i / 2] && its_.has(i % 2);
            const float r = kept.of[0][i], z = kept.of[1][i], c = kept.of[2][i],
                        d = mine ? above[i] + later_[i] : 0, by_c = d * (1 - z) * (1 - c * c);
            by[0][i] = mine ? by_c * kept.of[3][i] * r * (1 - r) : 0;
            by[1][i] = mine ? d * (before[i] - c) * z * (1 - z) : 0;
            by[2][i] = mine ? by_c : 0;
            by[3][i] = mine ? by_c * r : 0;
            straight[i] = mine ? d * z : 0;
        }
        NACELLE_UNROLL for (uint32_t gate = 0; gate < 3; ++gate) {
            const uint32_t column = gate * its_.neurons + its_.neuron;
            const float(&own)[4] = by[gate == 2 ? 3 : gate];
            slopes.put(its_, gate * room + its_.neuron, own);
            if (its_.neurons % 2 == 0) {
                if (!its_.has(0)) continue;
                const size_t place = its_.place(cell_.gate_slopes, t, column);
                put_four<planes>(cell_.gate_slopes.at + place, cell_.gate_slopes.plane, by[gate]);
                put_four<planes>(cell_.more_slopes.at + place, cell_.more_slopes.plane, own);
            } else {
                put_apart<planes>(cell_.gate_slopes, its_, t, column, by[gate]);
                put_apart<planes>(cell_.more_slopes, its_, t, column, own);
            }
        }
    }
    NACELLE_INLINE void leave_nothing(const Factor& slopes) const {
        constexpr float nothing[4] = {};
        NACELLE_UNROLL for (uint32_t gate = 0; gate < 3; ++gate)
            slopes.put(its_, gate * room + its_.neuron, nothing);
    }
    // The slopes along what was remembered before the step.
    NACELLE_INLINE void go_back(const Factor& slopes, const float (&straight)[4],
                                const bool (&forgot)[2]) {
        float sum[3][2][4];
        NACELLE_UNROLL for (int i = 0; i < 24; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
        NACELLE_UNROLL for (int tile = 0; tile < tiles; ++tile) {
            NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate) {
                uint32_t in[planes][4];
                slopes.fetch(its_, uint32_t(gate * room + 16 * tile), in);
                multiply_in_turns<planes>(sum[gate], in, weights_[gate][tile], tile);
            }
        }
        NACELLE_UNROLL for (int i = 0; i < 4; ++i) {
            float back = 0;
            NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate) back +=
                sum[gate][0][i] + sum[gate][1][i];
            later_[i] = forgot[i / 2] ? 0.0f : straight[i] + back;
        }
    }
    NACELLE_INLINE uint16_t* factor(uint32_t t) const {
        return reinterpret_cast<uint16_t*>(shared_ + gru_head_bytes + t % 2 * Factor::bytes);
    }
    static constexpr uint32_t kept_bytes = gru_kept_bytes(planes, room),
                              stage_bytes = kept_bytes + 2 * Level::bytes;
    NACELLE_INLINE unsigned char* stage(uint32_t t) const {
        return shared_ + gru_head_bytes + 2 * Factor::bytes + t % gru_stages * stage_bytes;
    }
    NACELLE_INLINE Level level(uint32_t t, uint32_t which) const {
        return {reinterpret_cast<uint16_t*>(stage(t) + kept_bytes + which * Level::bytes)};
    }
    NACELLE_INLINE Words* kept(uint32_t t) const {
        return reinterpret_cast<Words*>(stage(t)) + its_.warp * (Kept::vectors * 32) + its_.lane;
    }

    const CellRows& cell_;
    GruLane its_;
    uint32_t block_, steps_;
    unsigned char* shared_;
    BlockPast<E, policy, room> past_;
    Fragment<planes> weights_[3][tiles];
    float later_[4];
    bool there_[2];
};
template <class E, int policy, int room>
NACELLE_INLINE void gru_back(const View<E>& view, const CellArguments& a, Items items) {
    if (a.all.policy[policy].found[stopped] != 0) return;
    GruBack<E, policy, room>(view, a, uint32_t(items.begin / gru_threads(room))).run();
}

}
