#pragma once
#include <learn/cpu/inference.h>
#include <learn/cpu/streamed/levels.h>
#include <new>
// Inference with wide layers: a thread takes its rows through products that read the weights where they lie.

namespace learn {

template <class E, int policy> class Inference<E, policy, true> {
    using N = Networks<E, policy>;
    static constexpr int width = width_of<E, policy>;
    static constexpr std::align_val_t line{64};
    static_assert(!N::remembers);

public:
    using Group = GroupOf<E, policy>;

    static Inference& here() {
        static thread_local Inference networks;
        return networks;
    }
    static Inference& past() {
        static thread_local Inference networks;
        return networks;
    }
    void load(const Player<E, policy>& player) {
        mean_ = player.memory.mean;
        scale_ = player.memory.scale;
        weights_ = player.weights;
        if (!room_) room_ = static_cast<float*>(::operator new(floats * sizeof(float), line));
    }
    // A thread outlives the environment's code: what was taken is given back after each launch.
    void release() {
        ::operator delete(room_, line);
        room_ = nullptr;
    }

    template <class Row> void put(int n, Row&& row) { see<width>(room_, n, mean_, scale_, row); }
    void forward(int n) { run<typename N::Actor>(weights_, n, outputs_at); }
    void forward_values(int n) {
        if constexpr (N::separate)
            run<typename N::Critic>(weights_ + N::Actor::parameters, n, values_at);
        (void)n;
    }
    const float* output(int i) { return room_ + outputs_at + size_t(i) * N::Actor::out; }
    float value(int i) {
        if constexpr (N::shared) return output(i)[N::value_output];
        else return room_[values_at + size_t(i)];
    }
    template <class Row, class From, class To> void values(int n, Row&& row, From&&, To&& to) {
        put(n, row);
        if constexpr (N::shared) forward(n);
        forward_values(n);
        for (int i = 0; i < n; ++i) to(i, value(i));
    }

private:
    // Its rows behind `to`, as rows.
    template <class L> void run(const float* weights, int n, size_t to) {
        const int panels = (n + panel_rows - 1) / panel_rows;
        const float* from = room_;
        float* level = nullptr;
        for (int l = 0; l < L::count; ++l) {
            const LayerSize size{L::width[l], L::width[l + 1]};
            const float* const w = weights + L::before(l);
            level = room_ + (l % 2 ? second_at : first_at);
            forward_outputs(size, w, w + size_t(size.in) * size_t(size.out), 0, size.out, from,
                            level, panels);
            if (l + 1 < L::count)
                bend_numbers<L::activation>(level, size_t(panels) * panel_rows * size_t(size.out));
            from = level;
        }
        for (int i = 0; i < n; ++i)
            row_of_panels<L::out>(from, size_t(i), room_ + to + size_t(i) * L::out);
    }

    // What is seen, two levels in turns, the outputs.
    static constexpr size_t rows = rows_together, widest = size_t(N::Actor::widest_output()),
                            first_at = rows * size_t(width), second_at = first_at + rows * widest,
                            outputs_at = second_at + rows * widest,
                            values_at = outputs_at + rows * size_t(N::Actor::out),
                            floats = values_at + rows;
    const float *mean_ = nullptr, *scale_ = nullptr, *weights_ = nullptr;
    float* room_ = nullptr;
};

}
