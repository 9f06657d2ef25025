#pragma once
#include <learn/cpu/sequences.h>
#include <learn/cpu/update.h>
// The gradient of a minibatch of sequences on a CPU, of networks that remember: each slot takes every so many groups
// of sequences and sums apart, in memory of its own.

namespace learn {

template <class E, int policy> class SequenceGradient {
    using N = Networks<E, policy>;
    using S = Spec<policy>;
    using Actor = Sequences<typename N::Actor>;
    using Critic = Sequences<typename N::Critic>;
    using Here = Place<E, policy>;
    static constexpr int width = encoded_width_of<E, policy>, together = sequences_together;
    static_assert(together % samples_together == 0);

public:
    static SequenceGradient& here() {
        static thread_local SequenceGradient gradient;
        return gradient;
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
    // Up to `together` sequences; sample(i, t) is the number of step t of sequence i.
    template <class Sample>
    void add(const View<E>& view, uint64_t slot, int n, Sample&& sample, float* gradient,
             double* tally) {
        forward(view, slot, n, sample);
        float sum[tally_count] = {};
        for (int row = 0; row < actor_.rows(); ++row) {
            const int i = row % together, t = row / together;
            const size_t at = i < n ? place_of<E, policy>(view, *a_, sample(i, t)) : 0;
            float* const slope = actor_.output_slope() + row * padded<N::Actor::out>;
            float none[padded<1>], *value_slope = N::shared ? slope + N::value_output : none;
            if constexpr (N::separate) value_slope = critic_.output_slope() + row * padded<1>;
            row_slopes<E, policy>(*memory_, *state_, i < n ? &at : nullptr, output(row), value(row),
                                  slope, value_slope, sum);
        }
        for (int k = 0; k < tally_count; ++k) tally[k] += double(sum[k]);
        actor_.backward(actor_turned_, gradient + Here::encoder, before(0));
        leave(view, actor_, actor_entry_, n, sample, gradient);
        if constexpr (N::separate) {
            critic_.backward(critic_turned_, gradient + Here::first + Here::encoder,
                             before(N::Actor::memory));
            leave(view, critic_, critic_entry_, n, sample, gradient + Here::first);
        }
    }
    // What the networks say now of every sample: its value, and how its choice's probability moved.
    template <class Sample>
    void review(const View<E>& view, uint64_t slot, int n, Sample&& sample) {
        forward(view, slot, n, sample);
        for (int row = 0; row < actor_.rows(); ++row) {
            if (row % together >= n) continue;
            const size_t at =
                place_of<E, policy>(view, *a_, sample(row % together, row / together));
            review_sample<E, policy>(*memory_, at, output(row), value(row));
        }
    }

private:
    template <class Sample>
    void forward(const View<E>& view, uint64_t slot, int n, Sample&& sample) {
        const int steps = int(a_->sequence), rows = steps * together;
        actor_.steps = critic_.steps = steps;
        actor_.n = critic_.n = together;
        // The slot's memory: the rows of each network, where the sequences began, and where they forgot.
        constexpr int row_floats = Actor::row_floats + (!N::separate ? 0 : Critic::row_floats);
        actor_.memory =
            state_->scratch + slot * uint64_t(slot_floats(row_floats, N::memory, steps));
        critic_.memory = actor_.memory + size_t(Actor::row_floats) * size_t(rows);
        first_ = critic_.memory + (!N::separate ? 0 : size_t(Critic::row_floats) * size_t(rows));
        forgot_ = reinterpret_cast<uint8_t*>(first_ + together * N::memory);
        const size_t group = group_rows<E, policy>(view);
        for (int row = 0; row < rows; ++row) {
            // What is not there is like the last one that is; it counts for nothing.
            const int i = min(row % together, n - 1), t = row / together;
            const size_t at = place_of<E, policy>(view, *a_, sample(i, t));
            actor_entry_.enter(0, seen_at(at), *memory_, actor_.input() + row * padded<width>);
            if constexpr (N::separate)
                critic_entry_.enter(0, seen_at(at), *memory_,
                                    critic_.input() + row * padded<width>);
            forgot_[row] = state_->forgot[at];
            if (t > 0) continue;
            const float* const begun =
                state_->begun +
                (at / group / a_->sequence * group + at % group) * size_t(N::memory);
            for (int k = 0; k < N::memory; ++k) first_[(row % together) * N::memory + k] = begun[k];
        }
        actor_.forward(actor_weights_, before(0));
        if constexpr (N::separate) critic_.forward(critic_weights_, before(N::Actor::memory));
    }
    // The way back through convolutions. What they saw of every row would be more than a slot has room for: each row
    // goes through them once more.
    template <class Rows, class Its, class Sample>
    void leave(const View<E>& view, const Rows& network, Its& entry, int n, Sample&& sample,
               float* gradient) {
        if constexpr (convolves<policy>)
            for (int row = 0; row < network.rows(); ++row) {
                if (row % together >= n) continue;
                float* const made = network.input() + row * padded<width>;
                const size_t at =
                    place_of<E, policy>(view, *a_, sample(row % together, row / together));
                entry.enter(0, seen_at(at), *memory_, made);
                entry.leave(0, made, network.input_slope() + row * padded<width>, gradient);
            }
    }
    const float* seen_at(size_t at) const {
        return memory_->obs + at * size_t(width_of<E, policy>);
    }
    Remembered before(int first) const { return {first_ + first, forgot_, N::memory}; }
    const float* output(int row) const { return actor_.output() + row * padded<N::Actor::out>; }
    float value(int row) const {
        if constexpr (N::shared) return output(row)[N::value_output];
        else if constexpr (N::separate) return critic_.output()[row * padded<1>];
        else return 0;
    }

    static constexpr int critic_size = !N::separate ? 16 : Packed<typename N::Critic>::size,
                         critic_turned = !N::separate ? 16 : Packed<typename N::Critic>::turned;
    const Arguments* a_ = nullptr;
    const Memory* memory_ = nullptr;
    const PolicyState* state_ = nullptr;
    struct None {};
    using LearningEntry = Entry<E, policy, 1, true>;
    LearningEntry actor_entry_;
    Either<!N::separate, None, LearningEntry> critic_entry_;
    float* first_ = nullptr;
    uint8_t* forgot_ = nullptr;
    alignas(64) float actor_weights_[Packed<typename N::Actor>::size];
    alignas(64) float actor_turned_[Packed<typename N::Actor>::turned + 16];
    alignas(64) float critic_weights_[critic_size];
    alignas(64) float critic_turned_[critic_turned + 16];
    Actor actor_;
    Critic critic_;
};

template <class E, int policy>
void gradient_of_sequences(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const Minibatch<E, policy> batch(view, a);
    SequenceGradient<E, policy>& sequences = SequenceGradient<E, policy>::here();
    sequences.load(a);
    sum_groups<E, policy>(
        state, batch.count / a.sequence, sequences_together, items,
        [&](uint64_t slot, uint32_t first, uint32_t n, float* gradient, double* tally) {
            sequences.add(
                view, slot, int(n),
                [&](int i, int t) { return batch.sample(a, first + uint32_t(i), uint32_t(t)); },
                gradient, tally);
        });
}
template <class E, int policy>
void review_sequences(const View<E>& view, const Arguments& a, Items items) {
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    SequenceGradient<E, policy>& sequences = SequenceGradient<E, policy>::here();
    sequences.load(a);
    const uint32_t all = samples_of<E, policy>(view, a) / a.sequence;
    each_slot(state, items, [&](uint64_t slot) {
        each_group(state, all, sequences_together, slot, [&](uint32_t first, uint32_t n) {
            sequences.review(view, slot, int(n), [&](int i, int t) {
                const uint32_t sequence = first + uint32_t(i), agents = learners<policy>(state);
                return (sequence / agents * a.sequence + uint32_t(t)) * agents + sequence % agents;
            });
        });
    });
}

}
