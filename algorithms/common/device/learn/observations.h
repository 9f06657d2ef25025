#pragma once
#include <learn/returns.h>
// How the numbers of a group's observations lie: a running mean and spread of each. What a rollout saw
// counts from the next iteration on, so that a choice's probability is judged by what it was made with.

namespace learn {

template <class E, int group> struct ObsSums {
    using G = GroupNumber<E, group>;
    static constexpr int width = seen_in<ObsOf<E, G>>, count = 1 + 2 * width;
    static NACELLE_INLINE uint32_t samples(const View<E>& view, const Arguments& a) {
        return a.steps * uint32_t(rows_of<E, G>(view));
    }
    static NACELLE_INLINE uint32_t blocks(const View<E>& view, const Arguments& a) {
        return (samples(view, a) + obs_chunk - 1) / obs_chunk;
    }
    static NACELLE_INLINE void add(const Memory& memory, size_t at, int k, double shift,
                                   double* to) {
        const double off = double(memory.obs[at * size_t(width) + size_t(k)]) - shift;
        to[0] += off;
        to[1] += off * off;
    }
};
// Count, then sums and squares about the mean until now, of a block's samples. An item is a thread, of
// which a block has one for each of its samples' eighth.
template <class E, int group>
NACELLE_INLINE void measure_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    const Memory& memory = a.memory[group];
    if (!memory.normalises) return;
    const uint32_t samples = O::samples(view, a);
#if NACELLE_GPU
    const uint32_t block = uint32_t(items.begin / block_threads), first = block * obs_chunk,
                   end = min(first + obs_chunk, samples), thread = threadIdx.x;
    double* const to = memory.obs_slots + size_t(block) * O::count;
    if constexpr (O::width <= 8) {    // a thread for each sample
        Sums<O::count> sums;
        for (uint32_t at = first + thread; at < end; at += block_threads) {
            if (!(memory.flag[at] & acted)) continue;
            sums.at[0] += 1;
            NACELLE_UNROLL for (int k = 0; k < O::width; ++k)
                O::add(memory, at, k, memory.obs_carried[1 + k], sums.at + 1 + 2 * k);
        }
        store_sums(sums, to);
    } else {    // a thread for each number, so that a row is read together
        for (int k = int(thread); k < O::width; k += block_threads) {
            double sum[2] = {0, 0}, count = 0;
            const double shift = memory.obs_carried[1 + k];
            NACELLE_FOURFOLD for (uint32_t at = first; at < end; ++at) {
                if (!(memory.flag[at] & acted)) continue;
                count += 1;
                O::add(memory, at, k, shift, sum);
            }
            to[1 + 2 * k] = sum[0];
            to[2 + 2 * k] = sum[1];
            if (k == 0) to[0] = count;
        }
    }
#else
    for (uint64_t block = items.begin / block_threads; block < items.end / block_threads; ++block) {
        double* const to = memory.obs_slots + block * uint64_t(O::count);
        for (int k = 0; k < O::count; ++k) to[k] = 0;
        const uint64_t end = min((block + 1) * obs_chunk, uint64_t(samples));
        for (uint64_t at = block * obs_chunk; at < end; ++at) {
            if (!(memory.flag[at] & acted)) continue;
            to[0] += 1;
            for (int k = 0; k < O::width; ++k)
                O::add(memory, size_t(at), k, memory.obs_carried[1 + k], to + 1 + 2 * k);
        }
    }
#endif
}
// One number of the observations, or 128 threads for it.
template <class E, int group>
NACELLE_INLINE void follow_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    constexpr uint64_t width = uint64_t(O::width);
    const Memory& memory = a.memory[group];
    if (!memory.normalises) return;
    for (uint64_t k = items.begin / block_threads;
         k < min((items.end + block_threads - 1) / block_threads, width); ++k) {
        const uint32_t blocks = O::blocks(view, a), pitch = uint32_t(O::count);
        const double count = sum_of<1>(memory.obs_slots, blocks, pitch).at[0];
        const Sums<2> sums = sum_of<2>(memory.obs_slots + 1 + 2 * k, blocks, pitch);
#if NACELLE_GPU
        if (threadIdx.x != 0) continue;
#endif
        double* const carried = memory.obs_carried;
        Spread spread{carried[1 + 2 * width + k], carried[1 + k], carried[1 + width + k]};
        spread.add(count, sums.at[0], sums.at[1], carried[1 + k]);
        carried[1 + k] = spread.mean;
        carried[1 + width + k] = spread.squares;
        carried[1 + 2 * width + k] = spread.count;
        memory.mean[k] = float(spread.mean);
        memory.scale[k] = float(1.0 / root(spread.variance() + 1e-8));
    }
}

}
