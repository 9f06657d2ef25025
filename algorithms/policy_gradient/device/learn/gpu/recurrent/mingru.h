#pragma once
#include <learn/gpu/recurrent/cells.h>
// Layers of kind mingru, between the product of their gates and that of the next layer. A thread has four neighbouring
// neurons of a sequence and takes them through its steps, some steps at a time: it asks for all that these need of
// memory at once, then the recurrence goes through registers. Nothing may come between those loads that waits for one of
// them, a branch or a comparison: a step would then take as long as memory does. So they ask for a step that there is even
// where the last steps are fewer.

namespace learn {

// Whether the neurons of all such layers come in fours, which are then read and written as wholes.
template <class Hidden, class Cells> inline constexpr bool all_in_fours = false;
template <int... width, int... cell>
inline constexpr bool all_in_fours<Ints<width...>, Ints<cell...>> =
    ((Cell(cell) != Cell::mingru || width % 4 == 0) && ...);
template <int policy>
inline constexpr bool mingru_in_fours =
    all_in_fours<typename Spec<policy>::Hidden, typename Spec<policy>::Cells>;

struct alignas(8) TwoWords {
    uint32_t at[2];
};
// By one instruction: a compiler splits the struct's.
NACELLE_INLINE void put_two_words(uint16_t* to, uint32_t first, uint32_t second) {
#if defined(__CUDACC_RTC__)
    *reinterpret_cast<uint2*>(to) = make_uint2(first, second);
#else
    *reinterpret_cast<TwoWords*>(to) = TwoWords{{first, second}};
#endif
}
// Four numbers in planes.
template <int planes> struct FourPlanes {
    TwoWords at[planes];
    NACELLE_INLINE float operator[](uint32_t k) const {
        float sum = 0;
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) sum +=
            k % 2 ? high_half(at[p].at[k / 2]) : low_half(at[p].at[k / 2]);
        return sum;
    }
};
// Which neurons of which sequence a thread has. Rows of one step are `across` in number, whole tiles.
struct CellPlace {
    uint32_t sequence, neuron, count, across;
};
// Four columns of a matrix in tiles, from the thread's first neuron and `offset` on, in the rows of its sequence.
template <int planes, bool whole> class FourColumns {
public:
    NACELLE_INLINE FourColumns(const TiledMatrix& matrix, const CellPlace& its, uint32_t offset = 0)
        : matrix_(matrix),
          its_(its),
          column_(its.neuron + offset),
          first_(matrix.at + place_in_tiles(its.sequence, column_, matrix.across)),
          a_step_(size_t(its.across / tile_side) * matrix.across * tile_numbers) {}
    NACELLE_INLINE void get(uint32_t step, FourPlanes<planes>& to) const {
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            const uint16_t* const plane = at(step, p);
            if constexpr (whole) to.at[p] = *reinterpret_cast<const TwoWords*>(plane);
            else {
                const auto one = [&](uint32_t k) -> uint32_t {
                    return k < its_.count ? plane[apart(k)] : 0u;
                };
                to.at[p] = {{one(0) | one(1) << 16, one(2) | one(3) << 16}};
            }
        }
    }
    NACELLE_INLINE void put(uint32_t step, const float (&four)[4]) const {
        const auto left = planes_of<planes>(four[0], four[1]),
                   right = planes_of<planes>(four[2], four[3]);
        NACELLE_UNROLL for (int p = 0; p < planes; ++p) {
            uint16_t* const plane = at(step, p);
            if constexpr (whole) put_two_words(plane, left.at[p], right.at[p]);
            else
                NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) if (k < its_.count)
                    plane[apart(k)] =
                        uint16_t((k < 2 ? left.at[p] : right.at[p]) >> (k % 2 ? 16 : 0));
        }
    }

private:
    NACELLE_INLINE uint16_t* at(uint32_t step, int plane) const {
        return first_ + size_t(step) * a_step_ + size_t(plane) * matrix_.plane;
    }
    // From the first column to the k-th one, which may lie in another chunk or tile.
    NACELLE_INLINE int apart(uint32_t k) const {
        return int(place_in_tiles(its_.sequence, column_ + k, matrix_.across) -
                   place_in_tiles(its_.sequence, column_, matrix_.across));
    }

    const TiledMatrix& matrix_;
    const CellPlace& its_;
    uint32_t column_;
    uint16_t* first_;
    size_t a_step_;
};

// The gates of a thread's neurons at one step: with one plane as gate_value left them, else before their curves.
template <int planes> struct Gates { Four straight_z, straight_c; };
template <> struct Gates<1> { FourPlanes<1> z, c; };
template <int policy> class GateColumns {
    static constexpr int planes = Spec<policy>::planes;
    static constexpr bool whole = mingru_in_fours<policy>;
    using C = Curve<Spec<policy>::activation>;

public:
    NACELLE_INLINE GateColumns(const CellRows& cell, const CellPlace& its)
        : cell_(cell),
          its_(its),
          z_(cell.gate_values, its),
          c_(cell.gate_values, its, cell.neurons) {}
    NACELLE_INLINE void get(uint32_t step, Gates<planes>& to) const {
        if constexpr (planes == 1) {
            z_.get(step, to.z);
            c_.get(step, to.c);
        } else {
            const float* const row =
                cell_.gates + (size_t(step) * its_.across + its_.sequence) * cell_.pitch;
            four(row + its_.neuron, to.straight_z);
            four(row + cell_.neurons + its_.neuron, to.straight_c);
        }
    }
    static NACELLE_INLINE float z(const Gates<planes>& gates, uint32_t k) {
        if constexpr (planes == 1) return gates.z[k];
        else return logistic(gates.straight_z.at[k]);
    }
    // What goes into the activation, and what comes out; the former is needed by some slopes alone.
    static NACELLE_INLINE float c(const Gates<planes>& gates, uint32_t k, float& straight) {
        if constexpr (planes == 1) {
            straight = gates.c[k];
            return C::needs_input ? C::at(straight) : straight;
        } else {
            straight = gates.straight_c.at[k];
            return C::at(straight);
        }
    }

private:
    NACELLE_INLINE void four(const float* from, Four& to) const {
        if constexpr (whole) to = four_at(from);
        else
            NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) to.at[k] = k < its_.count ? from[k] : 0;
    }
    const CellRows& cell_;
    const CellPlace& its_;
    FourColumns<1, whole> z_, c_;
};

// fn(neurons of a sequence) for the thread that has them.
template <class Fn> NACELLE_INLINE void with_four(const CellArguments& a, Items items, Fn&& fn) {
    const uint32_t fours = (a.cell.neurons + 3) / 4, sequence = uint32_t(items.begin / fours),
                   neuron = uint32_t(items.begin % fours) * 4;
    if (sequence < a.stream.across)
        fn(CellPlace{sequence, neuron, min(4u, a.cell.neurons - neuron), a.stream.across});
}
template <int policy>
NACELLE_INLINE void mingru_step(const Gates<Spec<policy>::planes>& gates, bool there,
                                float (&h)[4]) {
    NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
        float straight;
        const float z = GateColumns<policy>::z(gates, k),
                    c = GateColumns<policy>::c(gates, k, straight);
        h[k] = there ? h[k] + z * (c - h[k]) : 0;
    }
}
NACELLE_INLINE void first_four(const float* from, const CellPlace& its, float (&h)[4]) {
    NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) h[k] =
        from && k < its.count ? from[its.neuron + k] : 0;
}

// A step of a rollout or of an evaluation.
template <class E, int policy>
NACELLE_INLINE void mingru_once(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    with_four(a, items, [&](const CellPlace& its) {
        const CellRows& cell = a.cell;
        const Past<E, policy, false> past(view, a, its.sequence);
        const GateColumns<policy> gates(cell, its);
        const FourColumns<planes, mingru_in_fours<policy>> out(cell.out, its);
        float* const remembered = past.there ? past.first + cell.offset : nullptr;
        float h[4];
        Gates<planes> now;
        // Where an episode was cut short its last observation is seen with what was remembered until then.
        if (a.stream.rows > a.stream.across) {
            first_four(remembered, its, h);
            gates.get(1, now);
            mingru_step<policy>(now, past.there, h);
            out.put(1, h);
        }
        first_four(past.there && !past.forgot(view, 0) ? remembered : nullptr, its, h);
        gates.get(0, now);
        mingru_step<policy>(now, past.there, h);
        out.put(0, h);
        NACELLE_UNROLL for (uint32_t k = 0; k < 4;
                            ++k) if (cell.lasting && remembered && k < its.count)
            remembered[its.neuron + k] = h[k];
    });
}
// Through sequences, some steps at a time.
template <class E, int policy>
NACELLE_INLINE void mingru_forward(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    constexpr uint32_t together = planes == 1 ? 16 : 8;
    if (a.all.policy[policy].found[stopped] != 0) return;
    with_four(a, items, [&](const CellPlace& its) {
        const Past<E, policy, true> past(view, a, its.sequence);
        const GateColumns<policy> gates(a.cell, its);
        const FourColumns<planes, mingru_in_fours<policy>> out(a.cell.out, its);
        const uint32_t steps = a.all.sequence;
        float h[4];
        first_four(past.there ? past.first + a.cell.offset : nullptr, its, h);
        NACELLE_ROLLED for (uint32_t first = 0; first < steps; first += together) {
            Gates<planes> of[together];
            uint8_t flag[together];
            NACELLE_UNROLL for (uint32_t i = 0; i < together; ++i) {
                const uint32_t t = min(first + i, steps - 1);
                gates.get(t, of[i]);
                flag[i] = past.flag(t);
            }
            NACELLE_UNROLL for (uint32_t i = 0; i < together; ++i) {
                if (first + i >= steps) continue;
                NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) h[k] = flag[i] ? 0 : h[k];
                mingru_step<policy>(of[i], past.there, h);
                out.put(first + i, h);
            }
        }
    });
}
template <class E, int policy>
NACELLE_INLINE void mingru_backward(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    constexpr bool whole = mingru_in_fours<policy>;
    constexpr uint32_t together = planes == 1 ? 8 : 4;
    using C = Curve<Spec<policy>::activation>;
    if (a.all.policy[policy].found[stopped] != 0) return;
    with_four(a, items, [&](const CellPlace& its) {
        const CellRows& cell = a.cell;
        const Past<E, policy, true> past(view, a, its.sequence);
        const GateColumns<policy> gates(cell, its);
        const FourColumns<planes, whole> out(cell.out, its), slopes(cell.slopes, its),
            by_z(cell.gate_slopes, its), by_c(cell.gate_slopes, its, cell.neurons);
        float later[4] = {};
        NACELLE_ROLLED for (uint32_t end = a.all.sequence; end > 0; end -= min(end, together)) {
            Gates<planes> of[together];
            FourPlanes<planes> above[together], before[together];
            uint8_t flag[together];
            NACELLE_UNROLL for (uint32_t i = 0; i < together; ++i) {
                const uint32_t t = end - min(end, i + 1);
                gates.get(t, of[i]);
                slopes.get(t, above[i]);
                out.get(max(t, 1u) - 1, before[i]);
                flag[i] = past.flag(t);
            }
            NACELLE_UNROLL for (uint32_t i = 0; i < together; ++i) {
                if (i >= end) continue;
                const uint32_t t = end - 1 - i;
                float h[4], z_slope[4], c_slope[4];
                if (t == 0) first_four(past.there ? past.first + cell.offset : nullptr, its, h);
                NACELLE_UNROLL for (uint32_t k = 0; k < 4; ++k) {
                    float x;
                    const float z = gates.z(of[i], k), c = gates.c(of[i], k, x),
                                had = flag[i] ? 0
                                      : t > 0 ? before[i][k]
                                              : h[k],
                                d = past.there ? above[i][k] + later[k] : 0;
                    z_slope[k] = past.there ? d * (c - had) * z * (1 - z) : 0;
                    c_slope[k] = past.there ? d * z * C::slope(x, c) : 0;
                    later[k] = flag[i] ? 0.0f : d * (1 - z);
                }
                by_z.put(t, z_slope);
                by_c.put(t, c_slope);
            }
        }
    });
}

}
