#pragma once
#include <learn/gpu/dense/rows.h>
#include <learn/gpu/tile/put_one.h>
// What layers that remember share, and a gru whose steps are launches of their own, since each step's gates are a product
// of what the step before left: a thread has two neighbouring neurons of a sequence.

namespace learn {

// Where a sequence of the stream began and forgot. In a rollout it is an agent that stands somewhere.
template <class E, int policy, bool learns> struct Past {
    static constexpr size_t width = size_t(Networks<E, policy>::memory);
    const PolicyState& state;
    size_t at = 0, rows = 0;    // of a rollout's step [steps][rows], or the row alone
    float* first = nullptr;     // what the row remembers before the first step
    bool there;

    NACELLE_INLINE Past(const View<E>& view, const CellArguments& a, uint32_t i)
        : state(a.all.policy[policy]), there(i < a.stream.count) {
        if (!there) return;
        rows = group_rows<E, policy>(view);
        if constexpr (learns) {
            at = place_of<E, policy>(
                view, a.all, sample_of_sequence<E, policy>(view, a.all, a.stream.first + i, 0));
            first = state.begun + (at / rows / a.all.sequence * rows + at % rows) * width;
        } else {
            at = row_of_agent<E, policy>(a.all, a.stream.first + i);
            first = state.remembered + at * width;
        }
    }
    NACELLE_INLINE bool forgot(const View<E>& view, uint32_t t) const {
        if constexpr (learns) return state.forgot[at + t * rows] != 0;
        else return begins<E>(view, at / size_t(count_of<E, GroupOf<E, policy>>));
    }
    // The same of a sequence as it lies there, for one that is none, too, which has nothing to forget.
    NACELLE_INLINE uint8_t flag(uint32_t t) const {
        static_assert(learns);
        return state.forgot[at + t * rows];
    }
};

// Two neighbouring numbers of a matrix in tiles.
template <int planes>
NACELLE_INLINE void put_two(const TiledMatrix& to, uint32_t row, uint32_t column, float first,
                            float second) {
    const auto pair = planes_of<planes>(first, second);
    NACELLE_UNROLL for (int p = 0; p < planes; ++p) *
        reinterpret_cast<uint32_t*>(to.at + size_t(p) * to.plane +
                                    place_in_tiles(row, column, to.across)) = pair.at[p];
}
template <int planes>
NACELLE_INLINE void get_two(const TiledMatrix& from, uint32_t row, uint32_t column,
                            float (&two)[2]) {
    Planes<planes> pair;
    NACELLE_UNROLL for (int p = 0; p < planes; ++p) pair.at[p] = *reinterpret_cast<const uint32_t*>(
        from.at + size_t(p) * from.plane + place_in_tiles(row, column, from.across));
    two[0] = pair.low();
    two[1] = pair.high();
}
// fn(sequence, first of two neurons), for the thread that has them.
template <class Fn> NACELLE_INLINE void with_pair(const CellArguments& a, Items items, Fn&& fn) {
    const uint32_t pairs = (a.cell.neurons + 1) / 2, i = uint32_t(items.begin / pairs);
    if (i < a.stream.across) fn(i, uint32_t(items.begin % pairs) * 2);
}

// What a gru had before its first step; of rows where an episode was cut short, what was remembered until then.
template <class E, int policy, bool learns>
NACELLE_INLINE void gru_past(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    with_pair(a, items, [&](uint32_t i, uint32_t j) {
        const CellRows& cell = a.cell;
        const Past<E, policy, learns> past(view, a, i);
        const bool keeps = past.there && !past.forgot(view, 0);
        float h[2] = {};
        NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
            if (j + k >= cell.neurons) continue;
            if (past.there) h[k] = past.first[cell.offset + j + k];
            cell.h[size_t(i) * cell.neurons + j + k] = keeps ? h[k] : 0;
        }
        put_two<planes>(cell.before, i, j, keeps ? h[0] : 0, keeps ? h[1] : 0);
        if (!learns && a.stream.rows > a.stream.across)
            put_two<planes>(cell.before, a.stream.across + i, j, h[0], h[1]);
    });
}
// One step, a.cell.step, behind the product of what was before it. Where it learns, gates keep r, z and n.
template <class E, int policy, bool learns>
NACELLE_INLINE void gru_step(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    with_pair(a, items, [&](uint32_t i, uint32_t j) {
        const CellRows& cell = a.cell;
        const Past<E, policy, learns> past(view, a, i);
        const uint32_t n = cell.neurons;
        const auto step = [&](uint32_t row, const float(&h)[2], float(&next)[2]) {
            float* const gate = cell.gates + size_t(row) * cell.pitch;
            const float* const more = cell.more + size_t(row) * cell.pitch;
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
                next[k] = 0;
                if (!past.there || j + k >= n) continue;
                const uint32_t at = j + k;
                const float r = logistic(gate[at] + more[at]),
                            z = logistic(gate[n + at] + more[n + at]),
                            c = quick_tanh(gate[2 * n + at] + r * more[2 * n + at]);
                next[k] = c + z * (h[k] - c);
                if constexpr (learns) {
                    gate[at] = r;
                    gate[n + at] = z;
                    gate[2 * n + at] = c;
                }
            }
            put_two<planes>(cell.out, row, j, next[0], next[1]);
        };
        float h[2] = {}, next[2];
        if (!learns && a.stream.rows > a.stream.across) {
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) if (past.there && j + k < n) h[k] =
                past.first[cell.offset + j + k];
            step(a.stream.across + i, h, next);
        }
        float* const kept = cell.h + size_t(i) * n + j;
        NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) h[k] = j + k < n ? kept[k] : 0.0f;
        const uint32_t row = cell.step * a.stream.across + i;
        step(row, h, next);
        if constexpr (learns) {
            if (cell.step + 1 == a.all.sequence) return;
            const bool keeps = past.there && !past.forgot(view, cell.step + 1);
            NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) if (j + k < n) kept[k] =
                keeps ? next[k] : 0.0f;
            put_two<planes>(cell.before, row + a.stream.across, j, keeps ? next[0] : 0,
                            keeps ? next[1] : 0);
        } else {
            NACELLE_UNROLL for (uint32_t k = 0; k < 2;
                                ++k) if (cell.lasting && past.there && j + k < n)
                past.first[cell.offset + j + k] = next[k];
        }
    });
}
template <class E, int policy>
NACELLE_INLINE void gru_begin_once(const View<E>& view, const CellArguments& a, Items items) {
    gru_past<E, policy, false>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void gru_once(const View<E>& view, const CellArguments& a, Items items) {
    gru_step<E, policy, false>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void gru_begin(const View<E>& view, const CellArguments& a, Items items) {
    gru_past<E, policy, true>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void gru_forward(const View<E>& view, const CellArguments& a, Items items) {
    gru_step<E, policy, true>(view, a, items);
}
// The way back through one step. `h` holds what came straight back from the step behind, `back` what came through its
// gates; the last step has neither.
template <class E, int policy>
NACELLE_INLINE void gru_backward(const View<E>& view, const CellArguments& a, Items items) {
    constexpr int planes = Spec<policy>::planes;
    if (a.all.policy[policy].found[stopped] != 0) return;
    with_pair(a, items, [&](uint32_t i, uint32_t j) {
        const CellRows& cell = a.cell;
        const Past<E, policy, true> past(view, a, i);
        const uint32_t n = cell.neurons, row = cell.step * a.stream.across + i;
        const float *const gate = cell.gates + size_t(row) * cell.pitch, *const more =
                                                                             cell.more +
                                                                             size_t(row) *
                                                                                 cell.pitch;
        const bool goes_on =
            past.there && cell.step + 1 < a.all.sequence && !past.forgot(view, cell.step + 1);
        float slope[2], before[2];
        get_two<planes>(cell.slopes, row, j, slope);
        get_two<planes>(cell.before, row, j, before);
        NACELLE_UNROLL for (uint32_t k = 0; k < 2; ++k) {
            if (j + k >= n) continue;
            const uint32_t at = j + k;
            float& straight = cell.h[size_t(i) * n + at];
            const float later =
                goes_on ? straight + cell.back[size_t(i) * cell.back_pitch + at] : 0.0f;
            const float r = gate[at], z = gate[n + at], c = gate[2 * n + at],
                        d = past.there ? slope[k] + later : 0;
            const float by_c = d * (1 - z) * (1 - c * c),
                        by_r = past.there ? by_c * more[2 * n + at] * r * (1 - r) : 0,
                        by_z = past.there ? d * (before[k] - c) * z * (1 - z) : 0;
            put_one<planes>(cell.gate_slopes, row, at, by_r);
            put_one<planes>(cell.gate_slopes, row, n + at, by_z);
            put_one<planes>(cell.gate_slopes, row, 2 * n + at, past.there ? by_c : 0);
            put_one<planes>(cell.more_slopes, row, at, by_r);
            put_one<planes>(cell.more_slopes, row, n + at, by_z);
            put_one<planes>(cell.more_slopes, row, 2 * n + at, past.there ? by_c * r : 0);
            straight = past.there ? d * z : 0;
        }
    });
}

}
