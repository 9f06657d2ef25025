#pragma once
#include <learn/returns.h>
// How the numbers of a group's observations lie: a running mean and spread of each. What a rollout saw
// counts from the next iteration on, so that a choice's probability is judged by what it was made with.

namespace learn {

template <class E, int group> using GroupNumber = typename Nth<group, GroupsOf<E>>::type;

template <class E, int group>
NACELLE_INLINE void measure_observations(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupNumber<E, group>;
    constexpr int width = numbers_in<ObsOf<E, G>>;
    const Memory& memory = a.memory[group];
    if (!memory.normalises) return;
    const size_t rows = rows_of<E, G>(view);
#if NACELLE_GPU
    // The threads of a block share its rows' numbers: thread by thread along a row, so that reads are
    // together, each with sums of its own.
    const size_t block = size_t(items.begin) / block_threads, first = block * block_threads;
    double* const to = memory.obs_slots + block * size_t(2 * width + 1);
    const int thread = int(threadIdx.x);
    for (int k = thread; k < 2 * width + 1; k += block_threads) to[k] = 0;
    __syncthreads();
    for (int k = thread; k < width; k += block_threads) {
        const double shift = memory.obs_carried[1 + k];
        double count = 0, sum = 0, squares = 0;
        for (uint32_t t = 0; t < a.steps; ++t)
            for (size_t row = first; row < min(rows, first + block_threads); ++row) {
                const size_t at = size_t(t) * rows + row;
                if (!(memory.flag[at] & acted)) continue;
                const double off = double(memory.obs[at * size_t(width) + size_t(k)]) - shift;
                count += 1;
                sum += off;
                squares += off * off;
            }
        to[1 + 2 * k] = sum;
        to[2 + 2 * k] = squares;
        if (k == 0) to[0] = count;
    }
#else
    for (uint64_t first = items.begin; first < min(items.end, uint64_t(rows));
         first += block_threads) {
        double* const to = memory.obs_slots + first / block_threads * uint64_t(2 * width + 1);
        for (int k = 0; k < 2 * width + 1; ++k) to[k] = 0;
        for (uint32_t t = 0; t < a.steps; ++t)
            for (size_t row = first; row < min(rows, size_t(first) + block_threads); ++row) {
                const size_t at = size_t(t) * rows + row;
                if (!(memory.flag[at] & acted)) continue;
                to[0] += 1;
                for (int k = 0; k < width; ++k) {
                    const double off = double(memory.obs[at * size_t(width) + size_t(k)]) -
                                       memory.obs_carried[1 + k];
                    to[1 + 2 * k] += off;
                    to[2 + 2 * k] += off * off;
                }
            }
    }
#endif
}
// One item for each number.
template <class E, int group>
NACELLE_INLINE void follow_observations(const View<E>& view, const Arguments& a, Items items) {
    using G = GroupNumber<E, group>;
    constexpr uint64_t width = uint64_t(numbers_in<ObsOf<E, G>>);
    const Memory& memory = a.memory[group];
    if (!memory.normalises) return;
    const uint32_t blocks = blocks_of(uint32_t(rows_of<E, G>(view)));
    for (uint64_t k = items.begin; k < min(items.end, width); ++k) {
        const int kept = int(2 * width + 1);
        double* const carried = memory.obs_carried;
        Spread spread{carried[1 + 2 * width + k], carried[1 + k], carried[1 + width + k]};
        spread.add(sum_of(memory.obs_slots, blocks, kept, 0),
                   sum_of(memory.obs_slots, blocks, kept, int(1 + 2 * k)),
                   sum_of(memory.obs_slots, blocks, kept, int(2 + 2 * k)), carried[1 + k]);
        carried[1 + k] = spread.mean;
        carried[1 + width + k] = spread.squares;
        carried[1 + 2 * width + k] = spread.count;
        memory.mean[k] = float(spread.mean);
        memory.scale[k] = float(1.0 / root(spread.variance() + 1e-8));
    }
}

}
