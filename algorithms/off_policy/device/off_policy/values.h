#pragma once
#include <off_policy/actions.h>
// How far values are off from what they aim at: the rewards of a sample's steps, and what it is worth to be where those
// led to.

namespace off_policy {

// Values of choices, of one network's outputs.
struct ChoiceValues {
    const Matrix& out;
    size_t row;
    uint32_t choices;
    float common = 0;    // duelling: what is added to each

    NACELLE_INLINE ChoiceValues(const Arguments& a, const Matrix& its_out, size_t its_row)
        : out(its_out), row(its_row), choices(a.replay.ring.choices) {
        if (!a.duelling) return;
        float mean = 0;
        for (uint32_t c = 0; c < choices; ++c) mean += number(out, row, c);
        common = number(out, row, choices) - mean / float(choices);
    }
    NACELLE_INLINE float at(uint32_t c) const { return number(out, row, c) + common; }
    NACELLE_INLINE uint32_t best(const uint8_t* open) const {
        uint32_t best = 0;
        float top = -infinity;
        for (uint32_t c = 0; c < choices; ++c) {
            const bool better = (!open || open[c]) && at(c) > top;
            top = better ? at(c) : top;
            best = better ? c : best;
        }
        return best;
    }
};

// What one sample comes to.
struct SampleLoss {
    float loss, off, value;    // `off` is what priorities are made of
};
NACELLE_INLINE SampleLoss choice_loss(const Arguments& a, uint32_t i, float aim, float share) {
    const replay::Ring& ring = a.replay.ring;
    const replay::Batch& batch = a.replay.batch;
    const uint32_t choices = ring.choices, taken = uint32_t(batch.action[i]);
    const ChoiceValues then(a, a.then_values[0], i), selecting(a, a.then_values[a.doubled], i),
        now(a, a.now_values[0], i);
    const uint8_t* const open = batch.next_mask ? batch.next_mask + size_t(i) * choices : nullptr;
    aim += batch.discount[i] * then.at(selecting.best(open));
    const float off = now.at(taken) - aim, slope = share * clamp(off, -1.0f, 1.0f);
    const float common = a.duelling ? slope / float(choices) : 0.0f;
    for (uint32_t c = 0; c < choices; ++c)
        put(a.value_slopes[0], i, c, (c == taken ? slope : 0.0f) - common);
    if (a.duelling) put(a.value_slopes[0], i, choices, slope);
    const float far = abs(off);
    return {far < 1.0f ? 0.5f * off * off : far - 0.5f, far, now.at(now.best(nullptr))};
}
NACELLE_INLINE SampleLoss action_loss(const Arguments& a, uint32_t i, float aim, float share) {
    const uint32_t twins = a.networks;
    float worth = number(a.then_values[0], i, 0);
    if (twins > 1) worth = min(worth, number(a.then_values[1], i, 0));
    if (a.method == replay::Method::sac) worth -= temperature_of(a) * a.log_density[i];
    aim += a.replay.batch.discount[i] * worth;
    SampleLoss found{};
    for (uint32_t n = 0; n < twins; ++n) {
        found.value = number(a.now_values[n], i, 0);
        const float off = found.value - aim;
        put(a.value_slopes[n], i, 0, share * off);
        found.loss += 0.5f * off * off;
        found.off += abs(off) / float(twins);
    }
    return found;
}
// An item is a sample.
template <class E>
NACELLE_INLINE void value_losses(const View<E>&, const Arguments& a, Items items) {
    const replay::Batch& batch = a.replay.batch;
    const bool closed = is_closed(a.gates, of_values);
    learn::over_strips<value_tallies>(
        items, batch.size, a.value_tallies, [&](uint32_t first, int n, auto& sums) {
            for (uint32_t i = first; i < first + uint32_t(n); ++i) {
                if (closed) {    // its priority stays
                    if (batch.priority) batch.priority[i] = a.replay.tree.leaf[batch.place[i]];
                    continue;
                }
                const float weight = batch.weight ? batch.weight[i] / a.heaviest[0] : 1.0f,
                            share = weight / samples_of_all(a.replay),
                            aim = batch.reward[i] * a.reward_scale;
                const SampleLoss found = a.method == replay::Method::dqn
                                             ? choice_loss(a, i, aim, share)
                                             : action_loss(a, i, aim, share);
                if (batch.priority) batch.priority[i] = pow(found.off + 1e-6f, a.replay.alpha);
                sums.at[value_loss] += double(weight * found.loss);
                sums.at[value] += double(found.value);
            }
        });
}

// The most of some numbers of all samples, for each thread of the only block.
NACELLE_INLINE float most_of(const float* numbers, uint32_t count) {
    float most = 0;
#if NACELLE_GPU
    __shared__ float of_threads[learn::block_threads];
    for (uint32_t i = threadIdx.x; i < count; i += uint32_t(learn::block_threads))
        most = max(most, numbers[i]);
    of_threads[threadIdx.x] = most;
    __syncthreads();
    for (int i = 0; i < learn::block_threads; ++i) most = max(most, of_threads[i]);
#else
    for (uint32_t i = 0; i < count; ++i) most = max(most, numbers[i]);
#endif
    return most;
}
template <class E>
NACELLE_INLINE void largest_weight(const View<E>&, const Arguments& a, Items items) {
    const float most = most_of(a.replay.batch.weight, a.replay.batch.size);
    if (items.begin == 0) a.heaviest[0] = most;
}
template <class E>
NACELLE_INLINE void largest_priority(const View<E>&, const Arguments& a, Items items) {
    if (is_closed(a.gates, of_values)) return;
    const float most = most_of(a.replay.batch.priority, a.replay.batch.size);
    if (items.begin == 0) a.replay.tree.most[0] = max(a.replay.tree.most[0], most);
}

}
