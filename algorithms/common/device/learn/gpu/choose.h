#pragma once
#include <learn/gpu/pilot.h>
#include <learn/gpu/update.h>
#include <learn/gpu/warp_rows.h>
// Choices for rows that lie in memory: step by step in a rollout of one launch a step, or for an evaluation.

namespace learn {

template <class E, int policy> struct Chooser {
    using G = GroupOf<E, policy>;
    using R = Rower<E, G>;
    using N = Networks<E, policy>;
    using H = Head<ActionOf<E, G>, Spec<policy>>;
    static constexpr int group = Spec<policy>::group;
    static constexpr size_t width = size_t(R::width), choices = size_t(R::choices);

    static NACELLE_INLINE size_t row_of(const Arguments& a, uint64_t seat) {
        return row_of_seat<E, policy>(a, uint32_t(seat));
    }
    static NACELLE_INLINE const float* obs_of(const View<E>& view, const Arguments& a, size_t row) {
        return R::S::now(view, a) + row * width;
    }
    // For step a.step of a rollout.
    static NACELLE_INLINE void keep(const View<E>& view, const Arguments& a, size_t row,
                                    const float* out) {
        const Memory& memory = a.memory[group];
        const size_t at = size_t(a.step) * rows_of<E, G>(view) + row;
        const uint8_t* const mask = mask_now<E, G>(view, row);
        for (size_t i = 0; i < (mask ? choices : 0); ++i) memory.mask[at * choices + i] = mask[i];
        if constexpr (!is_team<E> || has_image<E>) {
            const float* const obs = obs_of(view, a, row);
            for (size_t i = 0; i < width; ++i) memory.obs[at * width + i] = obs[i];
        }
        Dice<E, policy> dice(view, view.head.clock->tick + a.step, row);
        float choice[H::parts];
        if (!out) H::uniform(mask, dice, choice);
        else memory.log_probability[at] = H::draw(out, mask, dice, choice);
        for (int i = 0; i < H::parts; ++i) memory.choice[at * H::parts + size_t(i)] = choice[i];
        give<E, policy>(view, row, choice);
    }
    // Whether the row's episode was cut short in step t, and where it stood then.
    static NACELLE_INLINE const float* cut_at(const View<E>& view, const Arguments& a, uint32_t t,
                                              size_t row) {
        const uint8_t flag = a.memory[group].flag[size_t(t) * rows_of<E, G>(view) + row];
        return is_cut(flag) ? R::S::final(view, a) + row * width : nullptr;
    }
    // A network for values of its own looks at them later: until then they are kept.
    static NACELLE_INLINE void keep_cut(const View<E>& view, const Arguments& a, uint32_t t,
                                        size_t row) {
        const float* const obs = cut_at(view, a, t, row);
        float* const to =
            a.memory[group].final_obs + (size_t(t) * rows_of<E, G>(view) + row) * width;
        for (size_t i = 0; i < (obs ? width : 0); ++i) to[i] = obs[i];
    }
};

// On tensor cores: the owners of rows come with their lanes.
template <class E, int policy>
NACELLE_INLINE void act_warps(const View<E>& view, const Arguments& a, Items items) {
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
NACELLE_INLINE void choose_warps(const View<E>& view, const Arguments& a, Items items) {
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
            C::keep(view, a, row, out);
        });
}
template <class E, int policy>
NACELLE_INLINE void land_warps(const View<E>& view, const Arguments& a, Items items) {
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

// In 32-bit floats: an item is a seat.
template <class E, int policy>
NACELLE_INLINE void act_threads(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    if (items.begin >= a.pupil[policy].seats) return;
    const size_t row = C::row_of(a, items.begin);
    if constexpr (Spec<policy>::kind == Kind::random) act_on<E, policy>(view, a, row, nullptr);
    else {
        ThreadMind<E, policy> mind(a);
        act_on<E, policy>(view, a, row, mind.think(C::obs_of(view, a, row)));
    }
}
template <class E, int policy>
NACELLE_INLINE void choose_threads(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    if (items.begin >= a.pupil[policy].seats) return;
    const size_t row = C::row_of(a, items.begin);
    if constexpr (Spec<policy>::kind == Kind::random) C::keep(view, a, row, nullptr);
    else {
        const Memory& memory = a.memory[C::group];
        if (a.step > 0) C::R::settle(view, a, int(a.step) - 1, row);
        const float* const obs = C::obs_of(view, a, row);
        ThreadMind<E, policy> mind(a);
        C::keep(view, a, row, mind.think(obs));
        memory.value[size_t(a.step) * group_rows<E, policy>(view) + row] = mind.judge(obs);
    }
}

template <class E, int policy>
NACELLE_INLINE void act(const View<E>& view, const Arguments& a, Items items) {
    if constexpr (on_tensor_cores<policy>) act_warps<E, policy>(view, a, items);
    else act_threads<E, policy>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    if constexpr (on_tensor_cores<policy>) choose_warps<E, policy>(view, a, items);
    else choose_threads<E, policy>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void land(const View<E>& view, const Arguments& a, Items items) {
    if constexpr (on_tensor_cores<policy>) land_warps<E, policy>(view, a, items);
    else land_threads<E, policy>(view, a, items);
}

template <class E, int policy>
NACELLE_INLINE void review(const View<E>& view, const Arguments& a, Items items) {
    if constexpr (on_tensor_cores<policy>) review_warps<E, policy>(view, a, items);
    else review_threads<E, policy>(view, a, items);
}

}
