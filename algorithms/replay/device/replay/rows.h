#pragma once
#include <learn/formulas/observed.h>
#include <learn/formulas/optimiser.h>
#include <replay/arguments.h>
// Rows on their way to the network, its choices, and what a step leaves in the ring.

namespace replay {

using namespace nacelle;
using namespace nacelle::detail;
// CUDA has functions of these names at global scope.
using nacelle::abs, nacelle::cos, nacelle::exp, nacelle::log, nacelle::max, nacelle::min,
    nacelle::pow, nacelle::sqrt, nacelle::tanh;

template <class E> using TheGroup = learn::GroupNumber<E, 0>;
template <class E> using Seen = learn::Observed<E, TheGroup<E>>;
template <class E> NACELLE_INLINE const uint8_t* open_choices(const View<E>& view, size_t row) {
    using G = TheGroup<E>;
    if constexpr (has_mask<E, G>)
        return group_column<E, uint8_t, Role::mask, 0>(view) +
               row * size_t(choices_in<ActionOf<E, G>>);
    else return nullptr;
}
// The slot of the step before the newest by so many.
NACELLE_INLINE size_t slot_of_step(const Ring& ring, uint64_t step) {
    return size_t(step % ring.slots);
}

template <class E> NACELLE_INLINE void see(const View<E>& view, const Arguments& a, Items items) {
    const uint64_t width = a.ring.width;
    for (uint64_t i = items.begin; i < min(items.end, a.ring.rows * width); ++i)
        a.standing[i] = Seen<E>::number(view, false, size_t(i / width), int(i % width));
}

// The random numbers of a row's choice; those of noise may stay the same for some steps.
class Dice {
public:
    NACELLE_INLINE Dice(const ViewHead& head, const Arguments& a, uint32_t row)
        : fresh_(of(head, a, head.clock->tick, row, 0)),
          held_(of(head, a, head.clock->tick / a.noise_steps, row, 1)) {}
    NACELLE_INLINE float uniform() { return fresh_.uniform(); }
    NACELLE_INLINE uint32_t bits() { return fresh_.bits(); }
    NACELLE_INLINE float noise() { return held_.normal(); }
    NACELLE_INLINE float held_uniform() { return held_.uniform(); }

private:
    static NACELLE_INLINE Rng of(const ViewHead& head, const Arguments& a, uint64_t tick,
                                 uint32_t row, uint32_t use) {
        return Rng(head.seed, Domain::policy, tick,
                   head.first_env * (a.ring.rows / head.envs) + row, use);
    }
    Rng fresh_, held_;
};

// From the first row's, the dial's, to the last one's of all ranks, evenly in the logarithm: some explore, others do what
// is known.
NACELLE_INLINE float exploration_of(const Arguments& a, uint32_t row) {
    const float most = a.dials[exploration], least = min(most, a.least_exploration);
    const uint64_t rows = rows_of_all(a), its = uint64_t(a.rank) * a.ring.rows + row;
    if (rows < 2 || least == most || least <= 0) return most;
    return most * exp(log(least / most) * (float(its) / float(rows - 1)));
}

NACELLE_INLINE bool is_open(const uint8_t* mask, uint32_t i) { return !mask || mask[i]; }
NACELLE_INLINE uint32_t any_choice(const Arguments& a, const uint8_t* mask, Dice& dice) {
    uint32_t count = 0, chosen = 0;
    for (uint32_t i = 0; i < a.ring.choices; ++i) count += is_open(mask, i);
    uint32_t skip = uint32_t(below_from(dice.bits(), int(max(count, 1u))));
    for (uint32_t i = 0; i < a.ring.choices; ++i) {
        if (is_open(mask, i) && skip == 0) chosen = i;
        skip -= is_open(mask, i);
    }
    return chosen;
}
NACELLE_INLINE uint32_t best_choice(const Arguments& a, const float* out, const uint8_t* mask) {
    float top = -infinity;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < a.ring.choices; ++i) {
        const bool better = is_open(mask, i) && out[i] > top;
        top = better ? out[i] : top;
        chosen = better ? i : chosen;
    }
    return chosen;
}
NACELLE_INLINE uint32_t drawn_choice(const Arguments& a, const float* out, const uint8_t* mask,
                                     Dice& dice) {
    const float top = out[best_choice(a, out, mask)];
    float sum = 0;
    for (uint32_t i = 0; i < a.ring.choices; ++i)
        sum += is_open(mask, i) ? exp(out[i] - top) : 0.0f;
    float left = dice.uniform() * sum;
    uint32_t chosen = 0;
    bool found = false;
    for (uint32_t i = 0; i < a.ring.choices; ++i) {
        if (found || !is_open(mask, i)) continue;
        const float weight = exp(out[i] - top);
        chosen = i;    // the last one that is open, if rounding passes them all
        found = left < weight;
        left -= weight;
    }
    return chosen;
}
// Real number k of an action, in [-1, 1].
NACELLE_INLINE float real_choice(const Arguments& a, const float* out, uint32_t row, uint32_t k,
                                 bool random, Dice& dice) {
    if (random) return 2.0f * dice.held_uniform() - 1.0f;
    if (a.form == Form::means) {
        const float mean = tanh(out[k]);
        return a.trains ? clamp(mean + exploration_of(a, row) * dice.noise(), -1.0f, 1.0f) : mean;
    }
    if (a.greedy) return tanh(out[k]);
    const float log_sigma =
        clamp(out[a.ring.parts + k], a.least_log_deviation, a.most_log_deviation);
    return tanh(out[k] + exp(log_sigma) * dice.noise());
}
NACELLE_INLINE uint32_t discrete_choice(const Arguments& a, const float* out, uint32_t row,
                                        bool random, const uint8_t* mask, Dice& dice) {
    if (random) return any_choice(a, mask, dice);
    if (a.form == Form::scores && !a.greedy) return drawn_choice(a, out, mask, dice);
    if (a.form == Form::values && a.trains && dice.uniform() < exploration_of(a, row))
        return any_choice(a, mask, dice);
    return best_choice(a, out, mask);
}

template <class T> NACELLE_INLINE void take(T& part, float choice) {
    if constexpr (form_of<T> == nacelle::detail::Form::discrete) part.value = int(choice);
    else part.value = clamp(T::low + (T::high - T::low) * 0.5f * (choice + 1.0f), T::low, T::high);
}
// An item is a row. In training what it saw and does goes into the ring, too.
template <class E>
NACELLE_INLINE void choose(const View<E>& view, const Arguments& a, Items items) {
    using G = TheGroup<E>;
    const Ring& ring = a.ring;
    const uint64_t steps = ring.steps[0];
    const bool random = a.trains && steps * rows_of_all(a) < a.warm_up;
    const uint32_t outputs = a.form == Form::normal  ? 2 * ring.parts
                             : a.form == Form::means ? ring.parts
                                                     : ring.choices;
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(ring.rows)); ++i) {
        const uint32_t row = uint32_t(i);
        const float* const out = a.outputs + i * outputs;
        const uint8_t* const mask = open_choices<E>(view, i);
        Dice dice(view.head, a, row);
        const size_t at = slot_of_step(ring, steps) * ring.rows + row;
        ActionOf<E, G> action;
        uint32_t k = 0;
        for_each_element(action, [&](auto, int, auto& part) {
            using T = bare<decltype(part)>;
            float choice;
            if constexpr (form_of<T> == nacelle::detail::Form::discrete)
                choice = float(discrete_choice(a, out, row, random, mask, dice));
            else choice = real_choice(a, out, row, k, random, dice);
            take(part, choice);
            if (a.trains) ring.action[at * ring.parts + k] = choice;
            ++k;
        });
        store_row<E>(view.array, group_slot<E>(Role::action, 0), i, rows_of<E, G>(view), action);
        if (!a.trains) continue;
        for (uint32_t w = 0; w < ring.width; ++w)
            ring.obs[at * ring.width + w] = a.standing[i * ring.width + w];
        for (uint32_t c = 0; ring.mask && c < ring.choices; ++c)
            ring.mask[at * ring.choices + c] = mask[c];
    }
}

// The step itself, with the choices from the action arrays.
template <class E> NACELLE_INLINE void step(const View<E>& view, const Arguments& a, Items items) {
    const Ring ring = a.ring;
    const size_t first = slot_of_step(ring, ring.steps[0]) * ring.rows;
    rollout<E>(view, items, 0, Index<1>{}, GivenPolicy<E>{},
               [=](const Now& now, const ActionOf<E>&, const Outcome& outcome) {
                   ring.reward[first + now.row] = outcome.reward;
                   ring.flag[first + now.row] = learn::flag_of(outcome, true);
               });
}
// Where it led. An item is a number of a row.
template <class E> NACELLE_INLINE void keep(const View<E>& view, const Arguments& a, Items items) {
    const Ring& ring = a.ring;
    const uint64_t width = ring.width, slot = slot_of_step(ring, ring.steps[0]);
    for (uint64_t i = items.begin; i < min(items.end, ring.rows * width); ++i) {
        const size_t row = size_t(i / width), at = slot * ring.rows + row, k = size_t(i % width);
        const bool ended = ring.flag[at] & (learn::terminated | learn::truncated);
        ring.next_obs[at * width + k] = Seen<E>::number(view, ended, row, int(k));
        if (!ring.next_mask || k > 0) continue;
        const uint8_t* const mask = open_choices<E>(view, row);
        for (uint32_t c = 0; c < ring.choices; ++c)
            ring.next_mask[at * ring.choices + c] = ended ? uint8_t(1) : mask[c];
    }
}
// Behind each step: it counts, and schedules are looked up. An item is a dial.
template <class E>
NACELLE_INLINE void advance(const View<E>& view, const Arguments& a, Items items) {
    const float progress = progress_at(view.head, view.head.clock->tick);
    for (uint64_t i = items.begin; i < min(items.end, uint64_t(dial_count)); ++i) {
        if (i == 0) {
            a.ring.steps[0] += 1;
            if (a.tree.leaf) a.tree.summed[0] = a.ring.steps[0];
        }
        a.dials[i] = learn::scheduled(a.schedules[i], progress);
    }
}

}
