#pragma once
#include <learn/formulas/returns.h>
#include <learn/sums/ranks.h>
// How the numbers of a group's observations lie: a running mean and spread of each. What a rollout saw
// counts from the next iteration on, so that a choice's probability is judged by what it was made with.

namespace learn {

template <class E, int group> struct ObsRows {
    using G = GroupNumber<E, group>;
    static constexpr int width = seen_in<ObsOf<E, G>>;
    static NACELLE_INLINE uint32_t rows(const View<E>& view) {
        return uint32_t(rows_of<E, G>(view));
    }
    static NACELLE_INLINE const Memory& kept(const Arguments& a) { return a.memory[group]; }
    static NACELLE_INLINE bool counts(const Memory& memory, size_t at) {
        return counting_flag<E, G>(memory, at) & acted;
    }
    static NACELLE_INLINE uint32_t choosers(const Memory& memory) { return memory.choosers; }
    // Where pairs are kept, these are summed as they lie: normalised.
    static constexpr bool in_pairs = keeps_pairs;
};
// An environment's overview counts in every step.
template <class E> struct ObsRows<E, overview_rows> {
    static constexpr int width = overview_width;
    static NACELLE_INLINE uint32_t rows(const View<E>& view) { return view.head.envs; }
    static NACELLE_INLINE const Overviews& kept(const Arguments& a) { return *a.overviews; }
    static NACELLE_INLINE bool counts(const Overviews&, size_t) { return true; }
    static NACELLE_INLINE uint32_t choosers(const Overviews&) { return 0; }
    static constexpr bool in_pairs = false;
};
template <class E, int group> struct ObsSums : ObsRows<E, group> {
    using ObsRows<E, group>::width, ObsRows<E, group>::in_pairs;
    static constexpr int count = 1 + 2 * width,
                         parts = in_pairs ? kept_words(width) : width;    // of a row, as it lies
    // Of a shard.
    static NACELLE_INLINE uint32_t own_rows(const View<E>& view) {
        return ObsRows<E, group>::rows(view) / shards;
    }
    static NACELLE_INLINE uint32_t samples(const View<E>& view, const Arguments& a) {
        return a.steps * own_rows(view);
    }
    // Where number i of a shard's samples lies among those of all.
    static NACELLE_INLINE size_t place(uint32_t shard, uint32_t own_rows, uint32_t i) {
        if constexpr (shards == 1) return i;
        else return size_t(i / own_rows * shards + shard) * own_rows + i % own_rows;
    }
    static NACELLE_INLINE ObsCut cut(const View<E>& view, const Arguments& a) {
        return obs_cut(samples(view, a), uint64_t(parts), NACELLE_GPU);
    }
    static NACELLE_INLINE uint32_t slots(const View<E>& view, const Arguments& a) {
        const uint32_t choosers = ObsRows<E, group>::choosers(ObsRows<E, group>::kept(a));
        return choosers ? choosers : uint32_t(cut(view, a).chunks);
    }
    // The count of all samples, then a number's sums about the mean until now, as networks see it.
    static NACELLE_INLINE Sums<3> sum(const double* slots, uint32_t chunks, uint64_t k) {
        return over_shards([&](uint32_t shard) {
            return sum_by<3, 9>(chunks, [&](uint32_t chunk, int which) {
                return slots[size_t(shard * chunks + chunk) * count +
                             (which == 0 ? 0 : 2 * k + uint64_t(which))];
            });
        });
    }
    // Number n of a part of a row.
    static NACELLE_INLINE float number(float part, uint32_t n) {
#if NACELLE_GPU
        if constexpr (in_pairs) {
            const uint32_t pair = __builtin_bit_cast(uint32_t, part);
            return n ? high_half(pair) : low_half(pair);
        }
#endif
        (void)n;
        return part;
    }
    template <class Kept>
    static NACELLE_INLINE void add(const Kept& memory, size_t at, int k, double shift, double* to) {
        const double off = double(memory.obs[at * size_t(width) + size_t(k)]) - shift;
        to[0] += off;
        to[1] += off * off;
    }
};
#if NACELLE_GPU
// Count, then sums and squares about the mean until now, of a chunk's samples. A thread has one number of them or a pair,
// or that of every so many rows of them, so that neighbours read neighbours, many of them at once.
template <class E, int group>
NACELLE_INLINE void measure_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    constexpr uint32_t threads = uint32_t(block_threads), parts = uint32_t(O::parts),
                       slab = uint32_t(obs_cut(0, parts, true).slab), rows = threads / slab,
                       at_once = 16, numbers = O::in_pairs ? 2 : 1, width = uint32_t(O::width);
    __shared__ double sums[2 * numbers][threads];
    __shared__ uint32_t counts_of[threads];
    const auto& memory = ObsRows<E, group>::kept(a);
    if (!memory.normalises) return;
    const ObsCut cut = O::cut(view, a);
    const uint32_t block = uint32_t(items.begin / threads), thread = threadIdx.x,
                   chunk = block / uint32_t(cut.slabs),
                   first_part = block % uint32_t(cut.slabs) * slab, k = first_part + thread % slab,
                   row = thread / slab;
    const ShardBlocks shard_cut(0, uint32_t(cut.chunks));
    const uint32_t shard = shard_cut.shard_of(chunk), own_rows = O::own_rows(view),
                   first = shard_cut.own(chunk) * uint32_t(cut.samples),
                   end = min(first + uint32_t(cut.samples), O::samples(view, a));
    if (first >= end) return;    // the whole block
    double sum[numbers] = {}, squares[numbers] = {};
    uint32_t count = 0;
    if (row < rows && k < parts) {
        const float* const from = memory.obs + k;
        const double shift = O::in_pairs ? 0 : double(memory.mean[k]);
        NACELLE_ROLLED for (uint32_t at = first + row; at < end; at += at_once * rows) {
            float x[at_once];    // or the bits of a pair
            bool flag[at_once];
            // From the last sample where there is none: with branches each would wait for memory alone.
            NACELLE_UNROLL for (uint32_t i = 0; i < at_once; ++i) {
                const size_t its = O::place(shard, own_rows, min(at + i * rows, end - 1));
                x[i] = from[its * parts];
                flag[i] = O::counts(memory, its);
            }
            NACELLE_UNROLL for (uint32_t i = 0; i < at_once; ++i) {
                const bool counted = at + i * rows < end && flag[i];
                count += counted;
                NACELLE_UNROLL for (uint32_t n = 0; n < numbers; ++n) {
                    const double off = counted ? double(O::number(x[i], n)) - shift : 0.0;
                    sum[n] += off;
                    squares[n] += off * off;
                }
            }
        }
    }
    NACELLE_UNROLL for (uint32_t n = 0; n < numbers; ++n) {
        sums[2 * n][thread] = sum[n];
        sums[2 * n + 1][thread] = squares[n];
    }
    counts_of[thread] = count;
    __syncthreads();
    double* const to = memory.obs_slots + size_t(chunk) * uint32_t(O::count);
    for (uint32_t n = thread; n < 2 * numbers * slab; n += threads) {
        const uint32_t number = numbers * first_part + n / 2;
        if (number >= width) break;
        double all = 0;
        NACELLE_UNROLL for (uint32_t r = 0; r < rows; ++r) all +=
            sums[n % (2 * numbers)][r * slab + n / (2 * numbers)];
        to[1 + 2 * number + n % 2] = all;
    }
    if (first_part > 0 || thread > 0) return;
    uint32_t all = 0;
    NACELLE_UNROLL for (uint32_t r = 0; r < rows; ++r) all += counts_of[r * slab];
    to[0] = double(all);
}
#else
template <class E, int group>
NACELLE_INLINE void measure_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    const auto& memory = ObsRows<E, group>::kept(a);
    if (!memory.normalises) return;
    const ObsCut cut = O::cut(view, a);
    const ShardBlocks shard_cut(0, uint32_t(cut.chunks));
    const uint32_t samples = O::samples(view, a), together = uint32_t(cut.samples);
    for (uint64_t block = items.begin / block_threads; block < items.end / block_threads; ++block) {
        double* const to = memory.obs_slots + block * uint64_t(O::count);
        for (int k = 0; k < O::count; ++k) to[k] = 0;
        const uint32_t first = shard_cut.own(uint32_t(block)) * together,
                       end = min(first + together, samples);
        for (uint32_t i = first; i < end; ++i) {
            const size_t at = O::place(shard_cut.shard_of(uint32_t(block)), O::own_rows(view), i);
            if (!O::counts(memory, at)) continue;
            to[0] += 1;
            for (int k = 0; k < O::width; ++k)
                O::add(memory, at, k, double(memory.mean[k]), to + 1 + 2 * k);
        }
    }
}
#endif
// What this rank hands over of one number: its sums over all chunks, the count of all samples before the first one.
template <class E, int group>
NACELLE_INLINE void sum_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    const auto& memory = ObsRows<E, group>::kept(a);
    if (!memory.normalises) return;
    constexpr uint64_t to = obs_of_ranks<E, group>();
    for (uint64_t k = items.begin / block_threads;
         k < min((items.end + block_threads - 1) / block_threads, uint64_t(O::width)); ++k) {
        const Sums<3> sums = O::sum(memory.obs_slots, O::slots(view, a), k);
#if NACELLE_GPU
        if (threadIdx.x != 0) continue;
#endif
        if (k == 0) hand_over(sums.at[0], a, to);
        hand_over(sums.at[1], a, to + 1 + 2 * k);
        hand_over(sums.at[2], a, to + 2 + 2 * k);
    }
}
// One number of the observations, or 128 threads for it.
template <class E, int group>
NACELLE_INLINE void follow_observations(const View<E>& view, const Arguments& a, Items items) {
    using O = ObsSums<E, group>;
    constexpr uint64_t width = uint64_t(O::width);
    const auto& memory = ObsRows<E, group>::kept(a);
    if (!memory.normalises) return;
    for (uint64_t k = items.begin / block_threads;
         k < min((items.end + block_threads - 1) / block_threads, width); ++k) {
        Sums<3> sums;
        if constexpr (hands_over) {
            constexpr uint64_t from = obs_of_ranks<E, group>();
            sums.at[0] = handed_over(a, from);
            sums.at[1] = handed_over(a, from + 1 + 2 * k);
            sums.at[2] = handed_over(a, from + 2 + 2 * k);
        } else sums = O::sum(memory.obs_slots, O::slots(view, a), k);
#if NACELLE_GPU
        if constexpr (by_peers) {
            const Exchange exchange(*a.of_ranks.peers, observations_of + uint32_t(group));
            send_sums(exchange, 6 * k, sums);
            sums = sums_of_all(exchange, 6 * k, sums);
        }
        if (threadIdx.x != 0) continue;
#endif
        double* const carried = memory.obs_carried;
        Spread spread{carried[1 + 2 * width + k], carried[1 + k], carried[1 + width + k]};
        // Squares of pairs that lie absurdly far out have no room in the sums: the normaliser goes on without them.
        if (O::in_pairs && sums.at[2] - sums.at[2] != 0) continue;
        const double unit = O::in_pairs ? 1.0 / double(memory.scale[k]) : 1.0;
        spread.add(sums.at[0], sums.at[1] * unit, sums.at[2] * unit * unit, double(memory.mean[k]));
        carried[1 + k] = spread.mean;
        carried[1 + width + k] = spread.squares;
        carried[1 + 2 * width + k] = spread.count;
        memory.mean[k] = float(spread.mean);
        memory.scale[k] = float(1.0 / root(spread.variance() + 1e-8));
    }
}

}
