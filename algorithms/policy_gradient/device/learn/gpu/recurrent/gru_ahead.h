#pragma once
#include <learn/gpu/recurrent/gru_block.h>
// A gru forward through all steps of its sequences; gru_block.h says how. The gates of what is seen lie there for all steps,
// or are found on the way from what is seen.

namespace learn {

template <class E, int policy, int room> class GruAhead {
public:
    NACELLE_INLINE GruAhead(const View<E>& view, const CellArguments& a, uint32_t block)
        : cell_(a.cell),
          its_(a, block),
          block_(block),
          steps_(a.all.sequence),
          shared_(reinterpret_cast<unsigned char*>(
              block_memory<int(gru_ahead_bytes(planes, room) / 4)>())),
          past_(view, a, block, shared_) {
        NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate) {
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) bias_[gate][k] =
                its_.has(k) ? cell_.own_bias[uint32_t(gate) * its_.neurons + its_.neuron + k] : 0;
            NACELLE_UNROLL for (int tile = 0; tile < tiles; ++tile)
                take(cell_.own, gate, tile, weights_[gate][tile]);
            if constexpr (may_see) take_seen(gate);
        }
        NACELLE_UNROLL for (uint32_t half = 0; half < 2; ++half) {
            const float* const first = past_.first(its_.g + 8 * half);
            there_[half] = first != nullptr;
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) h_[2 * half + k] =
                first && its_.has(k) ? first[cell_.offset + its_.neuron + k] : 0;
        }
    }
    NACELLE_INLINE void run() {
        const size_t out = its_.place(cell_.out, 0, its_.neuron),
                     a_step = its_.place(cell_.out, 1, its_.neuron) - out;
        auto* kept =
            reinterpret_cast<typename Kept::Words*>(cell_.kept) + Kept::place(its_, block_, 0);
        const size_t more_kept = Kept::place(its_, block_, 1) - Kept::place(its_, block_, 0);
        NACELLE_UNROLL for (uint32_t step = 0; step + 1 < gru_stages; ++step) bring(step);
        NACELLE_ROLLED for (uint32_t t = 0; t < steps_; ++t) {
            if (t % gru_chunk == 0) past_.look(t);
            NACELLE_UNROLL for (uint32_t half = 0; half < 2;
                                ++half) if (past_.forgot(its_.g + 8 * half, t)) h_[2 * half] =
                h_[2 * half + 1] = 0;
            const Factor before{factor(t)};
            before.put(its_, its_.neuron, h_);
            await_groups<int(gru_stages) - 2>();
            __syncthreads();
            bring(t + gru_stages - 1);
            if (!its_.active) continue;
            if (its_.has(0))
                put_four<planes>(cell_.before.at + out + t * a_step, cell_.before.plane, h_);
            step(before, stage(t), kept + t * more_kept);
            if (its_.has(0)) put_four<planes>(cell_.out.at + out + t * a_step, cell_.out.plane, h_);
        }
    }

private:
    static constexpr int planes = Spec<policy>::planes, tiles = room / 16,
                         seen_tiles = int(gru_most_inputs) / 16;
    static constexpr bool may_see = gru_sees(1, planes);
    using Factor = GruFactor<planes, room>;
    using Seen = GruFactor<planes, int(gru_most_inputs)>;
    using Kept = GruKept<planes>;

    // A tile of a matrix [3 neurons][numbers]: 16 numbers by this warp's neurons of a gate.
    NACELLE_INLINE void take(const TiledMatrix& from, int gate, int tile,
                             Fragment<planes>& to) const {
        const uint32_t neuron = 8 * its_.warp + its_.g,
                       row = uint32_t(gate) * its_.neurons + neuron;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) to.at[p][k] =
                neuron < its_.neurons
                    ? *reinterpret_cast<const uint32_t*>(
                          from.at + size_t(p) * from.plane +
                          place_in_tiles(row, 16 * uint32_t(tile) + 2 * its_.t + 8 * k,
                                         from.across))
                    : 0;
        }
    }
    NACELLE_INLINE void take_seen(int gate) {
        NACELLE_UNROLL for (int tile = 0; tile < seen_tiles; ++tile) if (sees(tile))
            take(cell_.seen_weights, gate, tile, seen_weights_[gate][tile]);
        NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) seen_bias_[gate][k] =
            cell_.inputs && its_.has(k)
                ? cell_.seen_bias[uint32_t(gate) * its_.neurons + its_.neuron + k]
                : 0;
    }
    NACELLE_INLINE bool sees(int tile) const { return 16 * uint32_t(tile) < cell_.inputs; }
    // The gates of what is seen, of 16 rows, or what is seen.
    NACELLE_INLINE void bring(uint32_t t) const {
        if (may_see && t < steps_ && cell_.inputs)
            Seen{reinterpret_cast<uint16_t*>(stage(t))}.bring(
                cell_.seen, size_t(t) * its_.across + block_ * gru_sequences);
        else if (t < steps_) {
            const float* const from =
                cell_.gates +
                (size_t(t) * its_.across + block_ * gru_sequences) * size_t(cell_.pitch);
            float* const to = stage(t);
            const uint32_t fours = cell_.pitch / 4;
            NACELLE_ROLLED for (uint32_t row = its_.warp; row < gru_sequences;
                                row += gru_threads(room) / 32) for (uint32_t i = its_.lane;
                                                                    i < fours; i += 32)
                bring_async(to + row * stage_pitch + 4 * i,
                            from + size_t(row) * cell_.pitch + 4 * i, true);
        }
        close_group();
    }
    NACELLE_INLINE void step(const Factor& before, const float* seen, typename Kept::Words* to) {
        float sum[3][2][4];
        NACELLE_UNROLL for (int i = 0; i < 24; ++i) sum[i / 8][i / 4 % 2][i % 4] = 0;
        NACELLE_UNROLL for (int tile = 0; tile < tiles; ++tile) {
            uint32_t in[planes][4];
            before.fetch(its_, 16 * uint32_t(tile), in);
            NACELLE_UNROLL for (int gate = 0; gate < 3; ++gate)
                multiply_in_turns<planes>(sum[gate], in, weights_[gate][tile], tile);
        }
        float found[3][4];
        if (may_see && cell_.inputs) look(seen, found);
        Kept kept;
        NACELLE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t half = i / 2, k = i % 2;
            const float* const gate = seen + (its_.g + 8 * half) * stage_pitch + its_.neuron + k;
            const auto own = [&](int of) { return sum[of][0][i] + sum[of][1][i] + bias_[of][k]; };
            const auto seen_gate = [&](uint32_t of) {
                return may_see && cell_.inputs ? found[of][i] : gate[of * its_.neurons];
            };
            const bool mine = there_[half] && its_.has(k);
            const float r = logistic(seen_gate(0) + own(0)), z = logistic(seen_gate(1) + own(1)),
                        more = own(2), c = quick_tanh(seen_gate(2) + r * more);
            h_[i] = mine ? c + z * (h_[i] - c) : 0;
            kept.of[0][i] = r;
            kept.of[1][i] = z;
            kept.of[2][i] = c;
            kept.of[3][i] = more;
        }
        kept.put(to);
    }
    // The gates of what lies in a stage.
    NACELLE_INLINE void look(const float* stage, float (&gate)[3][4]) const {
        const Seen rows{reinterpret_cast<uint16_t*>(const_cast<float*>(stage))};
        NACELLE_UNROLL for (int i = 0; i < 12; ++i) gate[i / 4][i % 4] = seen_bias_[i / 4][i % 2];
        if constexpr (may_see)
            NACELLE_UNROLL for (int tile = 0; tile < seen_tiles; ++tile) if (sees(tile)) {
                uint32_t in[planes][4];
                rows.fetch(its_, 16 * uint32_t(tile), in);
                NACELLE_UNROLL for (int of = 0; of < 3; ++of) {
                    const Fragment<planes>& weights = seen_weights_[of][tile];
                    multiply(gate[of], in[0], weights.at[0][0], weights.at[0][1]);
                }
            }
    }
    NACELLE_INLINE uint16_t* factor(uint32_t t) const {
        return reinterpret_cast<uint16_t*>(shared_ + gru_head_bytes + t % 2 * Factor::bytes);
    }
    static constexpr uint32_t stage_pitch = gru_gates_pitch(room);
    NACELLE_INLINE float* stage(uint32_t t) const {
        return reinterpret_cast<float*>(shared_ + gru_head_bytes + 2 * Factor::bytes) +
               t % gru_stages * (gru_sequences * stage_pitch);
    }

    const CellRows& cell_;
    GruLane its_;
    uint32_t block_, steps_;
    unsigned char* shared_;
    BlockPast<E, policy, room> past_;
    Fragment<planes> weights_[3][tiles], seen_weights_[3][may_see ? seen_tiles : 1];
    float bias_[3][2], seen_bias_[3][2], h_[4];
    bool there_[2];
};
template <class E, int policy, int room>
NACELLE_INLINE void gru_ahead(const View<E>& view, const CellArguments& a, Items items) {
    if (a.all.policy[policy].found[stopped] != 0) return;
    GruAhead<E, policy, room>(view, a, uint32_t(items.begin / gru_threads(room))).run();
}

}
