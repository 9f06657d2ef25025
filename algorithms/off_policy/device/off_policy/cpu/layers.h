#pragma once
#include <off_policy/matrix.h>
// The three products of layers on a CPU. A task has so many neurons and rows of one network's layer, so that nothing depends
// on who does it.

namespace off_policy {

inline constexpr learn::Activation bend = learn::Spec<0>::activation;

// fn(product, its task) for each task of the items.
template <class Fn> NACELLE_INLINE void each_product(const LayerProducts& a, Items items, Fn&& fn) {
    if (a.found && a.found[learn::stopped] != 0) return;
    for (uint64_t task = items.begin / learn::block_threads;
         task < items.end / learn::block_threads; ++task) {
        uint32_t n = 0;
        while (n + 1 < a.count && task >= a.of[n + 1].first_task) ++n;
        fn(a.of[n], uint32_t(task) - a.of[n].first_task);
    }
}
// fn(the first neuron, the one behind the last, the first row, panels)
template <class Fn>
NACELLE_INLINE void with_band(const LayerProduct& p, uint32_t task, uint32_t neurons, Fn&& fn) {
    const uint32_t bands = learn::tasks_along(p.rows, learn::task_rows),
                   row = task % bands * learn::task_rows,
                   rows = min(p.rows - row, learn::task_rows),
                   first = task / bands * learn::task_neurons;
    fn(int(first), int(min(first + learn::task_neurons, neurons)), size_t(row),
       int((rows + learn::panel_rows - 1) / learn::panel_rows));
}

template <class E> void forward_layers(const View<E>&, const LayerProducts& a, Items items) {
    each_product(a, items, [](const LayerProduct& p, uint32_t task) {
        with_band(p, task, p.out, [&](int first, int end, size_t row, int panels) {
            float* const made = p.made + row * p.out;
            learn::forward_outputs({int(p.in), int(p.out)}, p.weights,
                                   p.weights + size_t(p.in) * p.out, first, end,
                                   p.seen + row * p.in, made, panels);
            if (!p.bends) return;
            const size_t count = size_t(end - first) * learn::panel_rows;
            for (size_t n = 0; n < size_t(panels); ++n) {
                const size_t at = (n * p.out + size_t(first)) * learn::panel_rows;
                for (size_t i = 0; p.kept && i < count; ++i)
                    p.kept[row * p.out + at + i] = made[at + i];
                learn::bend_numbers<bend>(made + at, count);
            }
        });
    });
}
template <class E> void backward_layers(const View<E>&, const LayerProducts& a, Items items) {
    each_product(a, items, [](const LayerProduct& p, uint32_t task) {
        with_band(p, task, p.in, [&](int first, int end, size_t row, int panels) {
            float* const back = p.back + row * p.in;
            learn::backward_inputs({int(p.in), int(p.out)}, p.weights, first, end,
                                   p.slopes + row * p.out, back, panels);
            if (!p.back_made) return;
            for (size_t n = 0; n < size_t(panels); ++n) {
                const size_t at = (n * p.in + size_t(first)) * learn::panel_rows,
                             there = row * p.in + at;
                learn::unbend_numbers<bend>(p.back_kept ? p.back_kept + there : nullptr,
                                            p.back_made + there, back + at,
                                            size_t(end - first) * learn::panel_rows);
            }
        });
    });
}
template <class E> void weigh_layers(const View<E>&, const LayerProducts& a, Items items) {
    each_product(a, items, [](const LayerProduct& p, uint32_t task) {
        const learn::LayerSize size{int(p.in), int(p.out)};
        const uint32_t across = learn::tasks_along(p.in, learn::task_inputs);
        const int input = int(task % across * learn::task_inputs),
                  first = int(task / across * learn::task_outputs),
                  end = min(first + int(learn::task_outputs), size.out),
                  panels = int((p.rows + learn::panel_rows - 1) / learn::panel_rows);
        for (int i = input; i < min(input + int(learn::task_inputs), size.in);
             i += learn::panel_rows)
            learn::gradient_of_weights(size, i, first, end, p.seen, p.slopes, p.gradient, panels,
                                       false);
        if (input == 0)
            learn::gradient_of_biases(size, first, end, p.slopes,
                                      p.gradient + size_t(size.in) * size_t(size.out), panels,
                                      false);
    });
}

}
