#pragma once
#include <learn/formulas/chooser.h>
#include <learn/formulas/shuffle.h>
// What lies around networks that are computed elsewhere: rows on their way to them, and choices by their outputs. An item
// is an agent, or a number of its row.

namespace learn {

// Where agent number i stands goes side by side with the others.
template <class E, int policy>
NACELLE_INLINE void see_now(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const PolicyState& state = a.policy[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(state.agents) * C::width); ++i)
        state.standing[i] = C::obs_of(view, a, C::row_of(a, i / C::width))[i % C::width];
}
// The same before step a.step of a rollout, where it is kept, and so is where an episode was cut short in the step before.
template <class E, int policy>
NACELLE_INLINE void see_step(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const PolicyState& state = a.policy[policy];
    const Memory& memory = a.memory[C::group];
    const size_t rows = group_rows<E, policy>(view), step = a.step;
    // What a team sees between its first and its last step is kept by its steps.
    const bool keeps = !is_team<E> || has_image<E> || step == 0 || step == a.steps;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(state.agents) * C::width); ++i) {
        const size_t row = C::row_of(a, i / C::width), k = i % C::width;
        const float x = C::standing(view, a, row)[k];
        state.standing[i] = x;
        if (keeps) memory.obs[(step * rows + row) * C::width + k] = x;
        const float* const cut = step > 0 ? C::cut_at(view, a, uint32_t(step) - 1, row) : nullptr;
        if (cut) memory.final_obs[((step - 1) * rows + row) * C::width + k] = cut[k];
    }
}
// What an agent remembers ends with its episode. In a rollout it is kept where a sequence begins, and that it ended.
template <class E, int policy>
NACELLE_INLINE void recall(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    using G = GroupOf<E, policy>;
    const PolicyState& state = a.policy[policy];
    const bool keeps = state.remembered != state.acting;
    const size_t width = state.memory_width;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(state.agents)); ++i) {
        const size_t row = C::row_of(a, i);
        const bool begun = begins<E>(view, row / size_t(count_of<E, G>));
        float* const its = state.remembered + i * width;
        for (size_t k = 0; begun && k < width; ++k) its[k] = 0;
        if (!keeps) continue;
        state.forgot[size_t(a.step) * state.agents + i] = begun;
        float* const to = state.begun + (a.step / a.sequence * size_t(state.agents) + i) * width;
        for (size_t k = 0; a.step % a.sequence == 0 && k < width; ++k) to[k] = its[k];
    }
}
// Choices for step a.step by the networks' outputs, behind which is the value.
template <class E, int policy>
NACELLE_INLINE void choose_external(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const PolicyState& state = a.policy[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(state.agents)); ++i) {
        const float* const out = state.outputs + i * (C::H::outputs + 1);
        const size_t row = C::row_of(a, i);
        C::choose(view, a, row, out);
        a.memory[C::group].value[size_t(a.step) * group_rows<E, policy>(view) + row] =
            out[C::H::outputs];
    }
}
template <class E, int policy>
NACELLE_INLINE void act_external(const View<E>& view, const Arguments& a, Items items) {
    using C = Chooser<E, policy>;
    const PolicyState& state = a.policy[policy];
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(state.agents)); ++i)
        act_on<E, policy>(view, a, C::row_of(a, i), state.outputs + i * (C::H::outputs + 1));
}
// Which samples a minibatch has; of sequences all steps of the first one, then those of the next.
template <class E, int policy>
NACELLE_INLINE void number_minibatch(const View<E>& view, const Arguments& a, Items items) {
    const Minibatch<E, policy> batch(view, a);
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(batch.count)); ++i) {
        const uint32_t n = uint32_t(i), steps = batch.steps;
        a.policy[policy].minibatch[i] =
            int32_t(steps > 1 ? batch.sample(a, n / steps, n % steps) : batch.ordered(a, n));
    }
}
// Where the samples of all agents of the policy lie among those of the group, step by step.
template <class E, int policy>
NACELLE_INLINE void place_samples(const View<E>& view, const Arguments& a, Items items) {
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(samples_of<E, policy>(view, a)));
         ++i)
        a.policy[policy].samples[i] = int32_t(place_of<E, policy>(view, a, uint32_t(i)));
}

}
