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
        const Pupil& pupil = a.pupil[policy];
        if (Spec<policy>::kind != Kind::trained) return;
        for (int i = 0; i < dial_count; ++i)
            pupil.dials[i] = scheduled(pupil.schedules[i], progress);
        for (int i = 0; i < tally_count; ++i) pupil.sums[i] = 0;
        pupil.found[stopped] = pupil.found[update_count] = 0;
    });
}

// How a block of `total` cuts its threads: some of them share a parameter, each with every so many slots.
#if NACELLE_GPU
inline constexpr int sharers = 4;
#else
inline constexpr int sharers = 1;
#endif
inline constexpr int total_together = block_threads / sharers;    // parameters of a block

// The sum of one parameter's gradient over the slots, and of its square over the block.
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    using Here = Place<E, policy>;
    constexpr int parameters = Networks<E, policy>::parameters;
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const double count =
        sum_of<1>(pupil.tallies + weight, a.pupil[policy].parts, tally_count).at[0];
    const float one = count > 0 ? float(1.0 / count) : 0.0f;
#if NACELLE_GPU
    __shared__ float parts[sharers][total_together];
    const int block = int(items.begin / block_threads), place = int(threadIdx.x) % total_together,
              share = int(threadIdx.x) / total_together, i = block * total_together + place;
    float sum = 0;
    if (i < parameters) {
        const float* const part = pupil.gradient + Here::of(i);
        NACELLE_EIGHTFOLD for (uint32_t slot = uint32_t(share); slot < a.pupil[policy].parts;
                               slot += sharers) sum += part[size_t(slot) * Here::size];
    }
    parts[share][place] = sum;
    __syncthreads();
    Sums<1> squares;
    if (share == 0 && i < parameters) {
        NACELLE_UNROLL for (int k = 1; k < sharers; ++k) sum += parts[k][place];
        sum = is_blind<E, policy>(i) ? 0.0f : sum * one;
        pupil.total[i] = sum;
        squares.at[0] = double(sum) * double(sum);
    }
    store_sums(squares, pupil.norms + block);
#else
    for (int block = int(items.begin / block_threads); block < int(items.end / block_threads);
         ++block) {
        double squares = 0;
        for (int i = block * total_together; i < min((block + 1) * total_together, parameters);
             ++i) {
            const float* const part = pupil.gradient + Here::of(i);
            float sum = 0;
            for (uint32_t slot = 0; slot < a.pupil[policy].parts; ++slot)
                sum += part[size_t(slot) * Here::size];
            sum = is_blind<E, policy>(i) ? 0.0f : sum * one;
            pupil.total[i] = sum;
            squares += double(sum) * double(sum);
        }
        pupil.norms[block] = squares;
    }
#endif
}
// Whether this update is made, and how long its step is.
template <class E, int policy>
NACELLE_INLINE void decide(const View<E>&, const Arguments& a, Items items) {
    constexpr uint32_t blocks =
        uint32_t((Networks<E, policy>::parameters + total_together - 1) / total_together);
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const Sums<tally_count> tally = sum_of<tally_count>(pupil.tallies, a.pupil[policy].parts);
    const double norm = root(sum_of<1>(pupil.norms, blocks).at[0]);
    if (items.begin != 0) return;
    for (int k = 0; k < tally_count; ++k) pupil.sums[k] += tally.at[k];
    const float* const dials = pupil.dials;
    const double most = double(dials[target_kl]);
    if (most > 0 && tally.at[weight] > 0 && tally.at[kl] / tally.at[weight] > most) {
        pupil.found[stopped] = 1;
        return;
    }
    pupil.found[gradient_norm] = norm;
    const double longest = double(dials[most_norm]);
    pupil.found[step_scale] = longest > 0 && norm > longest ? longest / norm : 1;
    pupil.found[update_count] += 1;
    double* const carried = pupil.carried;
    const bool first = carried[updates] == 0;
    carried[updates] += 1;
    carried[beta1_power] = (first ? 1.0 : carried[beta1_power]) * double(dials[beta1]);
    carried[beta2_power] = (first ? 1.0 : carried[beta2_power]) * double(dials[beta2]);
}
// Adam (Kingma and Ba, 2015), with the decay of weights apart from the gradient (Loshchilov and
// Hutter, 2019).
template <class E, int policy>
NACELLE_INLINE void adam(const View<E>&, const Arguments& a, Items items) {
    constexpr uint64_t parameters = uint64_t(Networks<E, policy>::parameters);
    const Pupil& pupil = a.pupil[policy];
    if (pupil.found[stopped] != 0) return;
    const float* const dials = pupil.dials;
    const float scale = float(pupil.found[step_scale]), rate = dials[learning_rate];
    const float first_left = float(1.0 / (1.0 - pupil.carried[beta1_power])),
                second_left = float(1.0 / (1.0 - pupil.carried[beta2_power]));
    const float keep1 = dials[beta1], keep2 = dials[beta2], least = dials[epsilon],
                decay = rate * dials[weight_decay];
    for (uint64_t i = items.begin; i < min(items.end, parameters); ++i) {
        const float g = pupil.total[i] * scale;
        float& m = pupil.moment[i];
        float& v = pupil.moment[parameters + i];
        m = keep1 * m + (1.0f - keep1) * g;
        v = keep2 * v + (1.0f - keep2) * g * g;
        const float w = pupil.weights[i];
        const float fresh =
            w - decay * w - rate * (m * first_left) / (sqrt(v * second_left) + least);
        pupil.weights[i] = fresh;
#if NACELLE_GPU
        Prepared<E, policy>::store(pupil.prepared, int(i), fresh);
#endif
    }
}

}
