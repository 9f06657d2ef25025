#pragma once
#include <learn/cpu/conv.h>
#include <learn/strips.h>
// A policy's networks at work on a CPU, a tile of rows at a time. Each thread has its own.

namespace learn {

inline constexpr int rows_together = 64;

template <class E, int policy> class Inference {
    using N = Networks<E, policy>;
    using H = typename N::H;
    static constexpr int width = encoded_width_of<E, policy>;

public:
    using Group = GroupOf<E, policy>;

    static Inference& here() {
        static thread_local Inference networks;
        return networks;
    }
    // Takes the weights as they are now.
    void load(const Arguments& a) {
        memory_ = &a.memory[Spec<policy>::group];
        const float* const weights = a.policy[policy].weights;
        actor_entry_.load(weights);
        pack<typename N::Actor>(weights + N::encoder, actor_weights_, nullptr);
        if constexpr (!N::shared) {
            critic_entry_.load(weights + N::first);
            pack<typename N::Critic>(weights + N::first + N::encoder, critic_weights_, nullptr);
        }
    }

    // The next n rows; row(i) is where the numbers of one lie.
    template <class Row> void put(int n, Row&& row) {
        for (int i = 0; i < n; ++i)
            actor_entry_.enter(i, row(i), *memory_, actor_.input() + i * padded<width>);
        if constexpr (!N::shared)
            for (int i = 0; i < n; ++i)
                critic_entry_.enter(i, row(i), *memory_, critic_.input() + i * padded<width>);
    }
    void forward(int n) { actor_.forward(actor_weights_, n); }
    void forward_values(int n) {
        if constexpr (!N::shared) critic_.forward(critic_weights_, n);
    }
    const float* output(int i) { return actor_.output() + i * padded<N::Actor::out>; }
    float value(int i) {
        if constexpr (N::shared) return output(i)[N::value_output];
        else return critic_.output()[i * padded<1>];
    }
    // The values alone of n rows.
    template <class Row, class To> void values(int n, Row&& row, To&& to) {
        for (int first = 0; first < n; first += rows_together) {
            const int count = min(n - first, rows_together);
            put(count, [&](int i) { return row(first + i); });
            if constexpr (N::shared) forward(count);
            forward_values(count);
            for (int i = 0; i < count; ++i) to(first + i, value(i));
        }
    }

private:
    static constexpr int critic_size = N::shared ? 16 : Packed<typename N::Critic>::size;
    struct None {};

    using InferenceEntry = Entry<E, policy, rows_together, false>;
    const Memory* memory_ = nullptr;
    InferenceEntry actor_entry_;
    Either<N::shared, None, InferenceEntry> critic_entry_;
    alignas(64) float actor_weights_[Packed<typename N::Actor>::size];
    alignas(64) float critic_weights_[critic_size];
    Tile<typename N::Actor, rows_together, false> actor_;
    Either<N::shared, None, Tile<typename N::Critic, rows_together, false>> critic_;
};

}
