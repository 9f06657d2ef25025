#pragma once
#include <learn/cpu/streamed/levels.h>
#include <learn/cpu/update.h>
// An update whose layers are products of their own, on a CPU: all rows of a part of the minibatch go through a layer before
// the next one, and each weight's gradient is one sum over those of a shard. Tasks share neurons and rows, so that nothing
// depends on who does them.

namespace learn {

template <class E, int policy> NACELLE_INLINE bool has_stopped(const LayerArguments& a) {
    return a.all.policy[policy].found[stopped] != 0;
}
template <class E, int policy> NACELLE_INLINE uint32_t panels_of(const LayerArguments& a) {
    return (a.rows + panel_rows - 1) / panel_rows;
}
// Whose rows these are: fn(row of this part) says where it lies in the rollout.
template <class E, int policy, class Fn>
NACELLE_INLINE void with_places(const View<E>& view, const LayerArguments& a, Fn&& fn) {
    if (a.reviews)
        return fn([&](uint32_t i) { return place_of<E, policy>(view, a.all, a.first + i); });
    const Minibatch<E, policy> batch(view, a.all);
    fn([&](uint32_t i) { return batch.place(view, a.all, a.first + i); });
}
// fn(levels) of network number a.network.
template <class E, int policy, class Fn>
NACELLE_INLINE void with_levels(const LayerArguments& a, Fn&& fn) {
    if (a.network == 0) fn(Levels<E, policy, 0>{a});
    else if constexpr (Networks<E, policy>::separate) fn(Levels<E, policy, 1>{a});
}
// fn(the first neuron, the one behind the last, the first row, panels) of each task.
template <class Fn>
NACELLE_INLINE void each_task(const LayerArguments& a, Items items, int neurons, Fn&& fn) {
    const uint32_t bands = tasks_along(a.rows, task_rows);
    for (uint64_t task = items.begin / block_threads; task < items.end / block_threads; ++task) {
        const uint32_t row = uint32_t(task) % bands * task_rows,
                       rows = min(a.rows - row, task_rows);
        const int first = int(uint32_t(task) / bands * task_neurons);
        fn(first, min(first + int(task_neurons), neurons), size_t(row),
           int((rows + panel_rows - 1) / panel_rows));
    }
}

// What is seen of the rows, one task for each band of them.
template <class E, int policy>
void see_rows(const View<E>& view, const LayerArguments& a, Items items) {
    if (has_stopped<E, policy>(a)) return;
    constexpr int width = width_of<E, policy>;
    const Memory& memory = a.all.memory[Spec<policy>::group];
    with_places<E, policy>(view, a, [&](auto&& place) {
        each_task(a, items, 1, [&](int, int, size_t row, int) {
            see<width>(a.levels + row * width, int(min(a.rows - uint32_t(row), task_rows)),
                       memory.mean, memory.scale, [&](int i) {
                           return seen_at<E, policy>(a.all, place(uint32_t(row) + uint32_t(i)));
                       });
        });
    });
}
// Rows through layer a.layer.
template <class E, int policy>
void forward_layer(const View<E>&, const LayerArguments& a, Items items) {
    if (has_stopped<E, policy>(a)) return;
    with_levels<E, policy>(a, [&](auto levels) {
        using Levels = decltype(levels);
        const int l = int(a.layer);
        const LayerSize size = Levels::size(l);
        const size_t in = size_t(size.in), out = size_t(size.out);
        each_task(a, items, size.out, [&](int first, int end, size_t row, int panels) {
            const float* const w = levels.weights(l);
            float* const y = levels.out(l + 1) + row * out;
            forward_outputs(size, w, w + in * out, first, end, levels.out(l) + row * in, y, panels);
            if (l + 1 == Levels::L::count) return;
            const size_t count = size_t(end - first) * panel_rows;
            for (size_t p = 0; p < size_t(panels); ++p) {
                const size_t at = (p * out + size_t(first)) * panel_rows;
                if constexpr (Levels::keeps_input) {
                    float* const kept = levels.in(l + 1) + row * out + at;
                    for (size_t i = 0; i < count; ++i) kept[i] = y[at + i];
                }
                bend_numbers<Levels::L::activation>(y + at, count);
            }
        });
    });
}
// Slopes along layer a.layer's outputs become those along what went into the activation before it.
template <class E, int policy>
void backward_layer(const View<E>&, const LayerArguments& a, Items items) {
    if (has_stopped<E, policy>(a)) return;
    with_levels<E, policy>(a, [&](auto levels) {
        using Levels = decltype(levels);
        const int l = int(a.layer);
        const LayerSize size = Levels::size(l);
        const size_t in = size_t(size.in), out = size_t(size.out);
        each_task(a, items, size.in, [&](int first, int end, size_t row, int panels) {
            float* const to = levels.slope(l) + row * in;
            backward_inputs(size, levels.weights(l), first, end, levels.slope(l + 1) + row * out,
                            to, panels);
            for (size_t p = 0; p < size_t(panels); ++p) {
                const size_t at = (p * in + size_t(first)) * panel_rows, there = row * in + at;
                unbend_numbers<Levels::L::activation>(
                    Levels::keeps_input ? levels.in(l) + there : nullptr, levels.out(l) + there,
                    to + at, size_t(end - first) * panel_rows);
            }
        });
    });
}
// The gradient of layer a.layer's weights and biases.
template <class E, int policy>
void layer_gradient(const View<E>&, const LayerArguments& a, Items items) {
    if (has_stopped<E, policy>(a)) return;
    with_levels<E, policy>(a, [&](auto levels) {
        const int l = int(a.layer), panels = int(panels_of<E, policy>(a));
        const LayerSize size = levels.size(l);
        const uint32_t across = tasks_along(uint64_t(size.in), task_inputs);
        const float* const slopes = levels.slope(l + 1);
        float* const g = levels.gradient(l);
        const bool adds = a.adds != 0;
        for (uint64_t task = items.begin / block_threads; task < items.end / block_threads;
             ++task) {
            const int input = int(uint32_t(task) % across * task_inputs),
                      first = int(uint32_t(task) / across * task_outputs),
                      end = min(first + int(task_outputs), size.out);
            for (int i = input; i < min(input + int(task_inputs), size.in); i += panel_rows)
                gradient_of_weights(size, i, first, end, levels.out(l), slopes, g, panels, adds);
            if (input == 0)
                gradient_of_biases(size, first, end, slopes, g + size_t(size.in) * size_t(size.out),
                                   panels, adds);
        }
    });
}

// From the outputs to the slopes along them; each slot of the tallies has every so many panels.
template <class E, int policy>
void find_slopes(const View<E>& view, const LayerArguments& a, Items items) {
    using N = Networks<E, policy>;
    const PolicyState& state = a.all.policy[policy];
    if (has_stopped<E, policy>(a)) return;
    const Memory& memory = a.all.memory[Spec<policy>::group];
    const Levels<E, policy, 0> actor{a};
    const Levels<E, policy, !N::separate ? 0 : 1> critic{a};
    const Minibatch<E, policy> batch(view, a.all);
    const ShardBlocks cut(batch.count, state.parts / shards);
    each_slot(state, items, [&](uint64_t slot) {
        if (cut.shard_of(uint32_t(slot)) != a.shard) return;
        double* const tally = state.tallies + slot * tally_count;
        for (int k = 0; k < tally_count && !a.adds; ++k) tally[k] = 0;
        for (uint32_t panel = cut.own(uint32_t(slot)); panel < panels_of<E, policy>(a);
             panel += cut.blocks) {
            float sum[tally_count] = {};
            for (uint32_t i = 0; i < uint32_t(panel_rows); ++i) {
                const uint32_t row = panel * panel_rows + i;
                float out[N::Actor::out], slope[padded<N::Actor::out>], own_slope[padded<1>];
                float value, *value_slope = own_slope;
                const size_t at = row < a.rows ? batch.place(view, a.all, a.first + row) : 0;
                row_of_panels<N::Actor::out>(actor.out(N::Actor::count), row, out);
                if constexpr (N::shared) {
                    value = out[N::value_output];
                    value_slope = slope + N::value_output;
                } else if constexpr (N::separate)
                    row_of_panels<1>(critic.out(N::Critic::count), row, &value);
                else value = 0;
                row_slopes<E, policy>(memory, state, row < a.rows ? &at : nullptr, out, value,
                                      slope, value_slope, sum);
                if constexpr (N::separate)
                    row_to_panels<1>(critic.slope(N::Critic::count), row, own_slope);
                row_to_panels<N::Actor::out>(actor.slope(N::Actor::count), row, slope);
            }
            for (int k = 0; k < tally_count; ++k) tally[k] += double(sum[k]);
        }
    });
    (void)critic;
}
// What the networks say now of every sample: its value, and how its choice's probability moved.
template <class E, int policy>
void review_rows(const View<E>& view, const LayerArguments& a, Items items) {
    using N = Networks<E, policy>;
    if (has_stopped<E, policy>(a)) return;
    const Memory& memory = a.all.memory[Spec<policy>::group];
    const Levels<E, policy, 0> actor{a};
    const Levels<E, policy, !N::separate ? 0 : 1> critic{a};
    for (uint64_t row = items.begin; row < min(items.end, uint64_t(a.rows)); ++row) {
        const size_t at = place_of<E, policy>(view, a.all, a.first + uint32_t(row));
        float out[N::Actor::out], value;
        row_of_panels<N::Actor::out>(actor.out(N::Actor::count), row, out);
        if constexpr (N::shared) value = out[N::value_output];
        else if constexpr (N::separate) row_of_panels<1>(critic.out(N::Critic::count), row, &value);
        else value = 0;
        review_sample<E, policy>(memory, at, out, value);
    }
    (void)critic;
}

}
