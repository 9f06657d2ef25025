#pragma once
#include <learn/gpu/recurrent/cells.h>
// Rows of networks that remember: agents at a step of a rollout, and the steps of a minibatch's sequences.

namespace learn {

// Before step a.step of a rollout: which rows forget, and of which 32 anything is to be known. An item is a row.
template <class E, int policy>
NACELLE_INLINE void mark_step(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    const uint32_t row = uint32_t(items.begin), across = a.stream.across, i = row % across;
    bool there = row < a.stream.rows && i < a.stream.count;
    if (there) {
        const size_t its = C::row_of(a.all, a.stream.first + i), rows = group_rows<E, policy>(view);
        if (row >= across) there = a.all.step > 0 && C::cut_at(view, a.all, a.all.step - 1, its);
        else if (a.all.step < a.all.steps)
            a.all.policy[policy].forgot[a.all.step * rows + its] =
                begins<E>(view, its / size_t(count_of<E, typename C::G>));
    }
    const uint32_t any = __ballot_sync(~0u, there);
    if (row % 32 == 0 && row < whole_blocks(a.stream.rows)) a.stream.present[row / 32] = any != 0;
}
// What rows remember where a sequence begins. An item is a number of an agent's.
template <class E, int policy>
NACELLE_INLINE void keep_begun(const View<E>& view, const StreamArguments& a, Items items) {
    constexpr size_t width = size_t(Networks<E, policy>::memory);
    const PolicyState& state = a.all.policy[policy];
    const size_t agent = size_t(items.begin) / width, k = size_t(items.begin) % width,
                 rows = group_rows<E, policy>(view);
    if (agent >= state.agents) return;
    const size_t row = row_of_agent<E, policy>(a.all, uint32_t(agent));
    const bool forgot = begins<E>(view, row / size_t(count_of<E, GroupOf<E, policy>>));
    state.begun[(a.all.step / a.all.sequence * rows + row) * width + k] =
        forgot ? 0.0f : state.remembered[row * width + k];
}
// Where agents stand, then where episodes were cut short in the step before; both are kept.
template <class E, int policy>
NACELLE_INLINE void gather_remembering(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    constexpr int width = width_of<E, policy>;
    const Memory& memory = a.all.memory[C::group];
    const size_t rows = group_rows<E, policy>(view), step = a.all.step;
    gather<E, policy>(a, items, [&](uint32_t at) {
        using Row = decltype(C::standing(view, a.all, 0));
        const uint32_t row = at - a.stream.first, i = row % a.stream.across;
        if (i >= a.stream.count) return Row{};
        const size_t its = C::row_of(a.all, a.stream.first + i);
        if (row >= a.stream.across) {
            const float* const cut =
                step > 0 ? C::cut_at(view, a.all, uint32_t(step) - 1, its) : nullptr;
            if constexpr (Spec<policy>::values == Values::elsewhere)
                if (cut) keep_own_pieces<width>(memory, (step - 1) * rows + its, true, cut, items);
            return Row{cut};
        }
        // What a team sees is kept by its step, but for what it sees last.
        if (C::keeps_obs || step == a.all.steps)
            keep_own_pieces<width>(memory, step * rows + its, false, C::obs_of(view, a.all, its),
                                   items);
        return C::standing(view, a.all, its);
    });
}
// Values of both, and choices where a rollout goes on; an item is a row.
template <class E, int policy, bool chooses>
NACELLE_INLINE void use_remembering(const View<E>& view, const StreamArguments& a, Items items) {
    using C = Chooser<E, policy>;
    using N = Networks<E, policy>;
    constexpr int network = N::separate ? 1 : 0, output = N::shared ? N::value_output : 0;
    const uint32_t row = uint32_t(items.begin), i = row % a.stream.across;
    if (row >= a.stream.rows || i >= a.stream.count) return;
    const Memory& memory = a.all.memory[C::group];
    const size_t its = C::row_of(a.all, a.stream.first + i), rows = group_rows<E, policy>(view);
    const float value =
        a.stream.outputs[network][size_t(row) * a.stream.pitch[network] + uint32_t(output)];
    if (row >= a.stream.across) {
        if (N::values_elsewhere) return;
        if (a.all.step > 0 && C::cut_at(view, a.all, a.all.step - 1, its))
            memory.final_value[size_t(a.all.step - 1) * rows + its] = value;
        return;
    }
    if constexpr (Spec<policy>::kind == Kind::trained && !N::values_elsewhere)
        memory.value[size_t(a.all.step) * rows + its] = value;
    if constexpr (chooses)
        C::choose(view, a.all, its, a.stream.outputs[0] + size_t(row) * a.stream.pitch[0]);
}
template <class E, int policy>
NACELLE_INLINE void choose_remembering(const View<E>& view, const StreamArguments& a, Items items) {
    use_remembering<E, policy, true>(view, a, items);
}
template <class E, int policy>
NACELLE_INLINE void keep_last_values(const View<E>& view, const StreamArguments& a, Items items) {
    use_remembering<E, policy, false>(view, a, items);
}
// The samples of sequences.
template <class E, int policy>
NACELLE_INLINE void gather_sequences(const View<E>& view, const StreamArguments& a, Items items) {
    if (a.all.policy[policy].found[stopped] != 0) return;
    gather<E, policy>(a, items, [&](uint32_t at) {
        using Row = KeptRow<E, policy>;
        const uint32_t row = at - a.stream.first;
        if (row % a.stream.across >= a.stream.count) return Row{};
        const size_t its = place_of<E, policy>(
            view, a.all,
            sample_of_sequence<E, policy>(view, a.all, a.stream.first + row % a.stream.across,
                                          row / a.stream.across));
        return kept_row<width_of<E, policy>>(a.all.memory[Spec<policy>::group], its);
    });
}
template <class E, int policy>
NACELLE_INLINE void review_remembering(const View<E>& view, const StreamArguments& a, Items items) {
    const uint32_t row = uint32_t(items.begin), i = row % a.stream.across;
    if (row >= a.stream.rows || i >= a.stream.count || a.all.policy[policy].found[stopped] != 0)
        return;
    const size_t at = place_of<E, policy>(
        view, a.all,
        sample_of_sequence<E, policy>(view, a.all, a.stream.first + i, row / a.stream.across));
    review_row<E, policy>(a.all, at, a.stream.outputs[0] + size_t(row) * a.stream.pitch[0]);
    if constexpr (Networks<E, policy>::separate)
        a.all.memory[Spec<policy>::group].value[at] =
            a.stream.outputs[1][size_t(row) * a.stream.pitch[1]];
}

}
