#pragma once
#include <learn/four.h>
#include <learn/learners.h>
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

// fn(first agent, how many, sums) for every strip, then its sums into slots [block][count].
template <int count, class Fn>
NACELLE_INLINE void over_strips(Items items, uint32_t agents, double* slots, Fn&& fn) {
#if NACELLE_GPU
    Sums<count> sums;
    if (items.begin < agents) fn(uint32_t(items.begin), 1, sums);
    store_sums<count>(sums, slots + items.begin / block_threads * count);
#else
    for (uint64_t first = items.begin; first < min(items.end, uint64_t(agents)); first += strip) {
        Sums<count> sums;
        fn(uint32_t(first), int(min(uint64_t(agents) - first, uint64_t(strip))), sums);
        for (int k = 0; k < count; ++k)
            slots[first / block_threads * count + uint64_t(k)] = sums.at[k];
    }
#endif
}
NACELLE_INLINE uint32_t blocks_of(uint32_t items) {
    return (items + block_threads - 1) / block_threads;
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
