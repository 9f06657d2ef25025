#pragma once
#include <learn/cpu/conv.h>
#include <learn/cpu/slots.h>
#include <learn/formulas/returns.h>
#include <learn/formulas/shuffle.h>
// The gradient of one minibatch on a CPU: each slot takes every so many tiles and sums apart.

namespace learn {

inline constexpr int tile_samples = 64;

// The slopes along a row's outputs and value, and what is told of it; zero where there is no sample that counts.
template <class E, int policy>
NACELLE_INLINE void row_slopes(const Memory& memory, const PolicyState& state, const size_t* at,
                               const float* out, float value, float* slope, float* value_slope,
                               float* sum) {
    using N = Networks<E, policy>;
    using H = typename N::H;
    for (int k = 0; k < padded<N::Actor::out>; ++k) slope[k] = 0;
    for (int k = 0; k < (N::shared ? 0 : padded<1>); ++k) value_slope[k] = 0;
    if (!at || !counts(memory.flag[*at])) return;
    const float* const choice = memory.choice + *at * H::parts;
    const uint8_t* const mask = kept_mask<E, GroupOf<E, policy>>(memory, *at);
    const Experience then = even_experience(memory, state, *at);
    Evaluated now{then.log_probability, 0, N::shared || N::separate ? value : then.value};
    H::evaluate(out, mask, choice, now.log_probability, now.entropy);
    const Losses l = losses_of<Spec<policy>::loss>(then, now, state.dials);
    H::slopes(out, mask, choice, l.by_probability, l.by_entropy, slope);
    *value_slope = l.by_value;
    count_losses<true, true>(sum, now, l);
}
// What the networks say now of the sample at `at`.
template <class E, int policy>
NACELLE_INLINE void review_sample(const Memory& memory, size_t at, const float* out, float value) {
    using H = typename Networks<E, policy>::H;
    float log_probability, entropy_now;
    H::evaluate(out, kept_mask<E, GroupOf<E, policy>>(memory, at), memory.choice + at * H::parts,
                log_probability, entropy_now);
    memory.ratio[at] = exp(log_ratio(log_probability, memory.log_probability[at]));
    if constexpr (Spec<policy>::values == Values::own) memory.value[at] = value;
}

template <class E, int policy> class TileGradient {
    using N = Networks<E, policy>;
    using S = Spec<policy>;
    using Here = Place<E, policy>;
    static constexpr int width = encoded_width_of<E, policy>;

public:
    static TileGradient& here() {
        static thread_local TileGradient tile_gradient;
        return tile_gradient;
    }
    void load(const Arguments& a) {
        a_ = &a;
        memory_ = &a.memory[S::group];
        state_ = &a.policy[policy];
        const float* const weights = state_->weights;
        actor_entry_.load(weights);
        pack<typename N::Actor>(weights + N::encoder, actor_weights_, actor_turned_);
        if constexpr (N::separate) {
            critic_entry_.load(weights + N::first);
            pack<typename N::Critic>(weights + N::first + N::encoder, critic_weights_,
                                     critic_turned_);
        }
    }
    // The samples from `begin` to before `end` of a minibatch, one tile; the gradient is added.
    void add(const View<E>& view, const Minibatch<E, policy>& batch, uint32_t begin, uint32_t end,
             float* gradient, double* tally) {
        size_t at[tile_samples];
        const int n = int(end - begin);
        const int whole = (n + samples_together - 1) / samples_together * samples_together;
        for (int i = 0; i < whole; ++i)
            at[i] = batch.place(view, *a_, begin + uint32_t(min(i, n - 1)));
        forward(at, whole);
        find_slopes(at, n, whole, tally);
        backward(actor_, actor_entry_, actor_turned_, gradient, n, whole);
        if constexpr (N::separate)
            backward(critic_, critic_entry_, critic_turned_, gradient + Here::first, n, whole);
    }
    // What the networks say now of every sample: its value, and how its choice's probability moved.
    void review(const View<E>& view, uint32_t begin, uint32_t end) {
        size_t at[tile_samples];
        const int n = int(end - begin);
        for (int i = 0; i < n; ++i) at[i] = place_of<E, policy>(view, *a_, begin + uint32_t(i));
        forward(at, n);
        for (int i = 0; i < n; ++i) review_sample<E, policy>(*memory_, at[i], output(i), value(i));
    }

private:
    void forward(const size_t* at, int n) {
        enter(at, n, actor_entry_, actor_.input());
        actor_.forward(actor_weights_, n);
        if constexpr (N::separate) {
            enter(at, n, critic_entry_, critic_.input());
            critic_.forward(critic_weights_, n);
        }
    }
    template <class Its> void enter(const size_t* at, int n, Its& entry, float* to) {
        for (int i = 0; i < n; ++i)
            entry.enter(i, seen_at<E, policy>(*a_, at[i]), *memory_, to + i * padded<width>);
    }
    template <class Its, class Entries>
    void backward(Its& network, Entries& entry, const float* turned, float* gradient, int n,
                  int whole) {
        network.backward(turned, gradient + Here::encoder, whole);
        for (int i = 0; i < n; ++i)
            entry.leave(i, network.input() + i * padded<width>,
                        network.input_slope() + i * padded<width>, gradient);
    }
    const float* output(int i) { return actor_.output() + i * padded<N::Actor::out>; }
    float value(int i) {
        if constexpr (N::shared) return output(i)[N::value_output];
        else if constexpr (N::separate) return critic_.output()[i * padded<1>];
        else return 0;
    }
    void find_slopes(const size_t* at, int n, int whole, double* tally) {
        float sum[tally_count] = {};
        for (int i = 0; i < whole; ++i) {
            float* const slope = actor_.output_slope() + i * padded<N::Actor::out>;
            float none[padded<1>], *value_slope = N::shared ? slope + N::value_output : none;
            if constexpr (N::separate) value_slope = critic_.output_slope() + i * padded<1>;
            row_slopes<E, policy>(*memory_, *state_, i < n ? &at[i] : nullptr, output(i), value(i),
                                  slope, value_slope, sum);
        }
        for (int k = 0; k < tally_count; ++k) tally[k] += double(sum[k]);
    }

    static constexpr int critic_size = !N::separate ? 16 : Packed<typename N::Critic>::size,
                         critic_turned = !N::separate ? 16 : Packed<typename N::Critic>::turned;
    struct None {};
    const Arguments* a_ = nullptr;
    const Memory* memory_ = nullptr;
    const PolicyState* state_ = nullptr;
    using LearningEntry = Entry<E, policy, tile_samples, true>;
    LearningEntry actor_entry_;
    Either<!N::separate, None, LearningEntry> critic_entry_;
    alignas(64) float actor_weights_[Packed<typename N::Actor>::size];
    alignas(64) float actor_turned_[Packed<typename N::Actor>::turned + 16];
    alignas(64) float critic_weights_[critic_size];
    alignas(64) float critic_turned_[critic_turned + 16];
    Tile<typename N::Actor, tile_samples, true> actor_;
    Either<!N::separate, None, Tile<typename N::Critic, tile_samples, true>> critic_;
};

template <class E, int policy> void gradient(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const Minibatch<E, policy> batch(view, a);
    TileGradient<E, policy>& tile_gradient = TileGradient<E, policy>::here();
    tile_gradient.load(a);
    sum_groups<E, policy>(
        state, batch.count, tile_samples, items,
        [&](uint64_t, uint32_t first, uint32_t n, float* gradient, double* tally) {
            tile_gradient.add(view, batch, first, first + n, gradient, tally);
        });
}
template <class E, int policy> void review(const View<E>& view, const Arguments& a, Items items) {
    if (a.policy[policy].found[stopped] != 0) return;
    const uint64_t samples = samples_of<E, policy>(view, a);
    TileGradient<E, policy>& tile_gradient = TileGradient<E, policy>::here();
    tile_gradient.load(a);
    for (uint64_t first = items.begin; first < min(items.end, samples); first += tile_samples)
        tile_gradient.review(view, uint32_t(first),
                             uint32_t(min(min(first + tile_samples, items.end), samples)));
}

}
