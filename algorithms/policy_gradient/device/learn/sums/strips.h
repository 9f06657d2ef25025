#pragma once
#include <learn/formulas/four.h>
#include <learn/layout/learners.h>
#include <learn/sums/shards.h>
// Passes over a policy's agents, those of all environments, step after step. On a GPU a
// thread has an agent; on a CPU a block of them goes together, so that memory is read in its order.

namespace learn {

#if NACELLE_GPU
inline constexpr int strip = 1;
#else
inline constexpr int strip = block_threads;
#endif

// The sums of a block in a fixed order.
template <int count> struct Sums {
    double at[count] = {};

    friend NACELLE_INLINE Sums operator+(const Sums& a, const Sums& b) {
        Sums sum;
        NACELLE_UNROLL for (int k = 0; k < count; ++k) sum.at[k] = a.at[k] + b.at[k];
        return sum;
    }
};
#if NACELLE_GPU
// The sum over a warp, for all of its lanes.
template <class T> NACELLE_INLINE T warp_sum(T value) {
    NACELLE_UNROLL for (int other = 16; other > 0; other /= 2) value +=
        __shfl_xor_sync(~0u, value, other);
    return value;
}
// All threads of a block get the sums of all of them.
template <int count> NACELLE_INLINE void add_up(Sums<count>& sums) {
    constexpr int warps = block_threads / 32;
    __shared__ double all[warps][count];
    const int thread = int(threadIdx.x);
    NACELLE_UNROLL for (int k = 0; k < count; ++k) sums.at[k] = warp_sum(sums.at[k]);
    __syncthreads();    // what lay there has been read
    if (thread % 32 == 0) {
        NACELLE_UNROLL for (int k = 0; k < count; ++k) all[thread / 32][k] = sums.at[k];
    }
    __syncthreads();
    NACELLE_UNROLL for (int k = 0; k < count; ++k) {
        sums.at[k] = all[0][k];
        NACELLE_UNROLL for (int warp = 1; warp < warps; ++warp) sums.at[k] += all[warp][k];
    }
}
// Whether a block is the last of a launch's to come here; then it sees what the others wrote before.
NACELLE_INLINE bool arrives_last(uint32_t* arrived, uint32_t blocks) {
    __shared__ bool last;
#if defined(__CUDACC_RTC__)
    __threadfence();
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
#if defined(__CUDACC_RTC__)
        last = atomicAdd(arrived, 1u) + 1 == blocks;
#else
        last = ++*arrived == blocks;    // blocks run one after the other
#endif
        if (last) *arrived = 0;
    }
    __syncthreads();
#if defined(__CUDACC_RTC__)
    __threadfence();
#endif
    return last;
}
template <int count> NACELLE_INLINE void store_sums(Sums<count> sums, double* slot) {
    add_up(sums);
    if (threadIdx.x == 0) {
        NACELLE_UNROLL for (int k = 0; k < count; ++k) slot[k] = sums.at[k];
    }
}
#endif
// `count` numbers of each of some slots, read(slot, which), over all slots. On a GPU a whole block comes along, and each of
// its threads reads so many slots at once.
template <int count, uint32_t at_once = 4, class Read>
NACELLE_INLINE Sums<count> sum_by(uint32_t how_many, Read&& read) {
    Sums<count> sums;
#if NACELLE_GPU
    for (uint32_t first = threadIdx.x; first < how_many; first += at_once * block_threads) {
        double its[at_once][count];
        NACELLE_UNROLL for (uint32_t i = 0; i < at_once; ++i) {
            const uint32_t slot = first + i * block_threads;
            NACELLE_UNROLL for (int k = 0; k < count; ++k) its[i][k] =
                slot < how_many ? read(slot, k) : 0;
        }
        NACELLE_UNROLL for (uint32_t i = 0; i < at_once; ++i) {
            NACELLE_UNROLL for (int k = 0; k < count; ++k) sums.at[k] += its[i][k];
        }
    }
    add_up(sums);
#else
    for (uint32_t slot = 0; slot < how_many; ++slot)
        for (int k = 0; k < count; ++k) sums.at[k] += read(slot, k);
#endif
    return sums;
}
// The same of numbers that lie side by side, those of a slot `pitch` doubles behind those of the one before.
template <int count>
NACELLE_INLINE Sums<count> sum_of(const double* slots, uint32_t how_many, uint32_t pitch = count) {
    return sum_by<count>(
        how_many, [&](uint32_t slot, int k) { return slots[size_t(slot) * pitch + uint32_t(k)]; });
}
// Of slots of which each shard has so many, one shard's behind the other's.
template <int count>
NACELLE_INLINE Sums<count> sum_of_shards(const double* slots, uint32_t of_each) {
    return over_shards([&](uint32_t shard) {
        return sum_of<count>(slots + size_t(shard) * of_each * uint32_t(count), of_each);
    });
}

NACELLE_INLINE uint32_t blocks_of(uint32_t items) {
    return (items + block_threads - 1) / block_threads;
}
// fn(first agent, how many, sums) for every strip, then its sums into slots [block][count]; no strip is of two shards.
template <int count, class Fn>
NACELLE_INLINE void over_strips(Items items, uint32_t agents, double* slots, Fn&& fn) {
    const ShardBlocks cut(agents, blocks_of(agents / shards));
    // fn(first of a block's, the one behind its shard's last).
    const auto in_shard = [&](uint32_t block, auto&& its) {
        const uint32_t begin = cut.shard_of(block) * cut.items;
        its(begin + cut.own(block) * block_threads, begin + cut.items);
    };
#if NACELLE_GPU
    const uint32_t block = uint32_t(items.begin / block_threads);
    Sums<count> sums;
    in_shard(block, [&](uint32_t first, uint32_t end) {
        const uint32_t agent = first + threadIdx.x;
        if (agent < end) fn(agent, 1, sums);
    });
    store_sums<count>(sums, slots + size_t(block) * count);
#else
    for (uint64_t block = items.begin / block_threads;
         block <
         min((items.end + block_threads - 1) / block_threads, uint64_t(cut.blocks) * shards);
         ++block) {
        Sums<count> sums;
        in_shard(uint32_t(block), [&](uint32_t first, uint32_t end) {
            fn(first, int(min(end - first, uint32_t(strip))), sums);
        });
        for (int k = 0; k < count; ++k) slots[block * count + uint64_t(k)] = sums.at[k];
    }
#endif
}
// The sums of what over_strips() has left of so many agents.
template <int count>
NACELLE_INLINE Sums<count> sum_of_strips(const double* slots, uint32_t agents) {
    return sum_of_shards<count>(slots, blocks_of(agents / shards));
}

NACELLE_INLINE double root(double x) {
#if defined(__CUDACC_RTC__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

// A mean and a spread that grow by batches (Chan and others, 1979). `sum` and `squares` are about `shift`.
struct Spread {
    double count, mean, squares;

    NACELLE_INLINE void add(double more, double sum, double squares_about, double shift) {
        if (more <= 0) return;
        const double off = sum / more, its_mean = shift + off;
        const double its_squares = max(squares_about - sum * off, 0.0);
        const double total = count + more, apart = its_mean - mean;
        squares += its_squares + apart * apart * count * more / total;
        mean += apart * more / total;
        count = total;
    }
    NACELLE_INLINE double variance() const { return count > 0 ? squares / count : 1.0; }
};

}
