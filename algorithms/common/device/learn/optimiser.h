#pragma once
#include <learn/network.h>
#include <learn/strips.h>
#if NACELLE_GPU
#include <learn/gpu/prepared.h>
#endif
// From the slots' gradients to new weights.

namespace learn {

NACELLE_INLINE float scheduled(const Schedule& s, float progress) {
    const float x = clamp(progress, 0.0f, 1.0f);
    if (s.form == Schedule::linear) return s.from + (s.to - s.from) * x;
    if (s.form == Schedule::cosine) return s.to + (s.from - s.to) * 0.5f * (1.0f + cos(pi * x));
    if (s.form == Schedule::exponential) return s.from * exp(log(s.to / s.from) * x);
    return s.from;
}

// The start of an iteration.
template <class E> NACELLE_INLINE void begin(const View<E>& view, const Arguments& a, Items items) {
    if (items.begin != 0) return;
    const float progress = progress_at(view.head, a.iteration[0] * a.steps);
    for_each_policy<E>([&]<int policy>() {
        const PolicyState& state = a.policy[policy];
        if (Spec<policy>::kind != Kind::trained) return;
        for (int i = 0; i < dial_count; ++i)
            state.dials[i] = scheduled(state.schedules[i], progress);
        for (int i = 0; i < tally_count; ++i) state.sums[i] = 0;
        state.found[stopped] = state.found[update_count] = 0;
    });
}

// Whether this update is made, and how long its step is. On a GPU a whole block comes along.
template <class E, int policy>
NACELLE_INLINE void decide_by(const Arguments& a, uint32_t norms, bool ours) {
    const PolicyState& state = a.policy[policy];
    const Sums<tally_count> tally = sum_of<tally_count>(state.tallies, a.policy[policy].parts);
    const double norm = root(sum_of<1>(state.norms, norms).at[0]);
    if (!ours) return;
    // All that is needed is read before anything is written: a GPU's thread waits for memory once.
    double sums[tally_count], carry[carried_count];
    float dials[dial_count];
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) sums[k] = state.sums[k];
    NACELLE_UNROLL for (int k = 0; k < carried_count; ++k) carry[k] = state.carried[k];
    NACELLE_UNROLL for (int k = 0; k < dial_count; ++k) dials[k] = state.dials[k];
    const double made = state.found[update_count];
    for (int k = 0; k < tally_count; ++k) state.sums[k] = sums[k] + tally.at[k];
    const double most = double(dials[target_kl]);
    if (most > 0 && tally.at[weight] > 0 && tally.at[kl] / tally.at[weight] > most) {
        state.found[stopped] = 1;
        return;
    }
    state.found[gradient_norm] = norm;
    const double longest = double(dials[most_norm]);
    state.found[step_scale] = longest > 0 && norm > longest ? longest / norm : 1;
    state.found[update_count] = made + 1;
    const bool first = carry[updates] == 0;
    state.carried[updates] = carry[updates] + 1;
    state.carried[beta1_power] = (first ? 1.0 : carry[beta1_power]) * double(dials[beta1]);
    state.carried[beta2_power] = (first ? 1.0 : carry[beta2_power]) * double(dials[beta2]);
}

// The sum of each parameter's gradient over the slots, and of its square over a block of them.
#if NACELLE_GPU
// A block has 32 places of the packed order, a thread four of them; threads share the slots. The block
// that ends last decides, so that nothing but Adam is to be launched behind it.
inline constexpr int sharers = block_threads / (total_together / 4);
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    using Here = Place<E, policy>;
    constexpr uint32_t blocks = uint32_t((Here::size + total_together - 1) / total_together);
    __shared__ float parts[sharers][total_together];
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const int block = int(items.begin / block_threads), thread = int(threadIdx.x);
    if (block >= int(blocks)) return;
    const int mine = thread % (total_together / 4) * 4, share = thread / (total_together / 4);
    Four sum{};
    if (block * total_together + mine < Here::size) {
        const float* const part = state.gradient + block * total_together + mine;
        // Eight at once: one after the other each would wait for memory.
        for (uint32_t slot = uint32_t(share); slot < state.parts; slot += 8 * sharers) {
            Four its[8];
            NACELLE_UNROLL for (uint32_t k = 0; k < 8; ++k) its[k] =
                slot + k * sharers < state.parts
                    ? four_at(part + size_t(slot + k * sharers) * Here::size)
                    : Four{};
            NACELLE_UNROLL for (int k = 0; k < 8; ++k) {
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) sum.at[i] += its[k].at[i];
            }
        }
    }
    NACELLE_UNROLL for (int k = 0; k < 4; ++k) parts[share][mine + k] = sum.at[k];
    const double count = sum_of<1>(state.tallies + weight, state.parts, tally_count).at[0];
    const float one = count > 0 ? float(1.0 / count) : 0.0f;
    const int place = block * total_together + thread;
    const int i = thread < total_together && place < Here::size ? Here::parameter(place) : -1;
    Sums<1> squares;
    if (i >= 0) {
        float all = 0;
        NACELLE_UNROLL for (int k = 0; k < sharers; ++k) all += parts[k][thread];
        all = is_blind<E, policy>(i) ? 0.0f : all * one;
        state.total[i] = all;
        squares.at[0] = double(all) * double(all);
    }
    store_sums(squares, state.norms + block);
    if (arrives_last(state.arrived, blocks)) decide_by<E, policy>(a, blocks, thread == 0);
}
#else
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    using Here = Place<E, policy>;
    constexpr int parameters = Networks<E, policy>::parameters;
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const double count = sum_of<1>(state.tallies + weight, state.parts, tally_count).at[0];
    const float one = count > 0 ? float(1.0 / count) : 0.0f;
    for (int block = int(items.begin / block_threads); block < int(items.end / block_threads);
         ++block) {
        double squares = 0;
        for (int i = block * block_threads; i < min((block + 1) * block_threads, parameters); ++i) {
            const float* const part = state.gradient + Here::of(i);
            float sum = 0;
            for (uint32_t slot = 0; slot < state.parts; ++slot)
                sum += part[size_t(slot) * Here::size];
            sum = is_blind<E, policy>(i) ? 0.0f : sum * one;
            state.total[i] = sum;
            squares += double(sum) * double(sum);
        }
        state.norms[block] = squares;
    }
}
template <class E, int policy>
NACELLE_INLINE void decide(const View<E>&, const Arguments& a, Items items) {
    if (a.policy[policy].found[stopped] == 0)
        decide_by<E, policy>(a, blocks_of(uint32_t(Networks<E, policy>::parameters)),
                             items.begin == 0);
}
#endif
// Adam (Kingma and Ba, 2015), with the decay of weights apart from the gradient (Loshchilov and
// Hutter, 2019).
template <class E, int policy>
NACELLE_INLINE void adam(const View<E>&, const Arguments& a, Items items) {
    constexpr uint64_t parameters = uint64_t(Networks<E, policy>::parameters);
    const PolicyState& state = a.policy[policy];
    if (state.found[stopped] != 0) return;
    const float* const dials = state.dials;
    const float scale = float(state.found[step_scale]), rate = dials[learning_rate];
    const float first_left = float(1.0 / (1.0 - state.carried[beta1_power])),
                second_left = float(1.0 / (1.0 - state.carried[beta2_power]));
    const float keep1 = dials[beta1], keep2 = dials[beta2], least = dials[epsilon],
                decay = rate * dials[weight_decay];
    for (uint64_t i = items.begin; i < min(items.end, parameters); ++i) {
        const float g = state.total[i] * scale;
        float& m = state.moment[i];
        float& v = state.moment[parameters + i];
        m = keep1 * m + (1.0f - keep1) * g;
        v = keep2 * v + (1.0f - keep2) * g * g;
        const float w = state.weights[i];
        const float fresh =
            w - decay * w - rate * (m * first_left) / (sqrt(v * second_left) + least);
        state.weights[i] = fresh;
#if NACELLE_GPU
        Prepared<E, policy>::store(state.prepared, int(i), fresh);
#endif
    }
}

}
