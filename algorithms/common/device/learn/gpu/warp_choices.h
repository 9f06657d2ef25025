#pragma once
#include <learn/gpu/choices.h>
#include <learn/gpu/warp_rows.h>
// Choices of networks that a warp takes rows through, 16 at a time.

namespace learn {

// On tensor cores: the owners of rows come with their lanes.
template <class E, int policy>
NACELLE_INLINE void act(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    over_rows<E, policy, typename C::N::Actor>(
        a, a.pupil[policy].prepared, items, a.pupil[policy].seats,
        [&](uint64_t seat) { return C::obs_of(view, a, C::row_of(a, seat)); },
        [&](uint64_t seat, const float* out) {
            act_on<E, policy>(view, a, C::row_of(a, seat), out);
        });
}
// The seats twice: to choose for, then those that were cut short in the step before.
template <class E, int policy>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint64_t seats = a.pupil[policy].seats;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view);
    const bool settles = a.step > 0 && Spec<policy>::kind == Kind::trained;
    over_rows<E, policy, typename C::N::Actor>(
        a, a.pupil[policy].prepared, items, settles && C::N::shared ? 2 * seats : seats,
        [&](uint64_t i) {
            return i < seats ? C::obs_of(view, a, C::row_of(a, i))
                             : C::cut_at(view, a, a.step - 1, C::row_of(a, i - seats));
        },
        [&](uint64_t i, const float* out) {
            const size_t row = C::row_of(a, i < seats ? i : i - seats);
            if (i >= seats) {
                memory.final_value[size_t(a.step - 1) * rows + row] = out[C::N::value_output];
                return;
            }
            if constexpr (C::N::shared)
                memory.value[size_t(a.step) * rows + row] = out[C::N::value_output];
            else if (settles) C::keep_cut(view, a, a.step - 1, row);
            C::keep_obs(view, a, row);
            C::choose(view, a, row, out);
        });
}
template <class E, int policy>
NACELLE_INLINE void land(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint64_t seats = a.pupil[policy].seats;
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view), last = size_t(a.steps - 1) * rows,
                 end = size_t(a.steps) * rows;
    const uint64_t mine = items.begin / 32 * warp_rows + items.begin % 32;
    if (items.begin % 32 < uint64_t(warp_rows) && mine < seats) {
        const size_t row = C::row_of(a, mine);
        const float* const obs = C::obs_of(view, a, row);
        for (size_t k = 0; k < C::width; ++k) memory.obs[(end + row) * C::width + k] = obs[k];
        if constexpr (!C::N::shared) C::keep_cut(view, a, a.steps - 1, row);
    }
    if constexpr (C::N::shared)
        over_rows<E, policy, typename C::N::Actor>(
            a, a.pupil[policy].prepared, items, 2 * seats,
            [&](uint64_t i) {
                return i < seats ? C::obs_of(view, a, C::row_of(a, i))
                                 : C::cut_at(view, a, a.steps - 1, C::row_of(a, i - seats));
            },
            [&](uint64_t i, const float* out) {
                const size_t row = C::row_of(a, i < seats ? i : i - seats);
                (i < seats ? memory.value[end + row] : memory.final_value[last + row]) =
                    out[C::N::value_output];
            });
}

}
