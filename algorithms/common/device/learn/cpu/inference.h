#pragma once
#include <learn/cpu/layers.h>
#include <learn/strips.h>
// A policy's networks at work on a CPU, a tile of rows at a time. Each thread has its own.

namespace learn {

inline constexpr int rows_together = 64;

// Wide layers have a form of their own (streamed/inference.h).
template <class E, int policy, bool streamed = Spec<policy>::streamed> class Inference {
    using N = Networks<E, policy>;
    static constexpr int width = width_of<E, policy>;

public:
    using Group = GroupOf<E, policy>;

    static Inference& here() {
        static thread_local Inference networks;
        return networks;
    }
    // Takes the weights as they are now.
    void load(const Arguments& a) {
        const Memory& memory = a.memory[Spec<policy>::group];
        mean_ = memory.mean;
        scale_ = memory.scale;
        pack<typename N::Actor>(a.policy[policy].weights, actor_weights_, nullptr);
        if constexpr (!N::shared)
            pack<typename N::Critic>(a.policy[policy].weights + N::Actor::parameters,
                                     critic_weights_, nullptr);
    }
    void release() {}

    // The next n rows; row(i) is where the numbers of one lie.
    template <class Row> void put(int n, Row&& row) {
        normalise(actor_.input(), n, row);
        if constexpr (!N::shared) normalise(critic_.input(), n, row);
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
    template <class Row> void normalise(float* input, int n, Row&& row) {
        for (int i = 0; i < n; ++i) {
            const float* const from = row(i);
            float* const to = input + i * padded<width>;
            for (int k = 0; k < width; ++k) to[k] = normal_of(from[k], mean_[k], scale_[k]);
        }
    }
    static constexpr int critic_size = N::shared ? 16 : Packed<typename N::Critic>::size;
    struct None {};

    const float *mean_ = nullptr, *scale_ = nullptr;
    alignas(64) float actor_weights_[Packed<typename N::Actor>::size];
    alignas(64) float critic_weights_[critic_size];
    Tile<typename N::Actor, rows_together, false> actor_;
    Either<N::shared, None, Tile<typename N::Critic, rows_together, false>> critic_;
};

// The weights as they are now, for the time of a launch.
template <class E, int policy> struct LoadedNetworks {
    explicit LoadedNetworks(const Arguments& a) {
        if constexpr (Spec<policy>::kind != Kind::random) Inference<E, policy>::here().load(a);
        (void)a;
    }
    ~LoadedNetworks() {
        if constexpr (Spec<policy>::kind != Kind::random) Inference<E, policy>::here().release();
    }
    LoadedNetworks(const LoadedNetworks&) = delete;
};

}
