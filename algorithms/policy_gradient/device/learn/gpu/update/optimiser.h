#pragma once
#include <learn/formulas/optimiser.h>
#include <learn/gpu/tile/prepared.h>
// From the slots' gradients to new weights by blocks of a GPU: two launches. The first one adds up the slots and leaves
// the squares of what comes out, a number for each block; a block more judges the minibatch by its tallies. In the
// second one each block adds up all squares for itself, since nothing is quicker than that which all can do at once.

namespace learn {

// Samples of a minibatch, of which each block of its sums needs the count; several ranks add them up in the meantime.
template <class E, int policy> class SampleCount {
public:
    NACELLE_INLINE SampleCount(const ExchangeOf<policy>& exchange, const PolicyState& state,
                               uint32_t block)
        : exchange_(exchange), state_(state), block_(block) {}

    NACELLE_INLINE void find() {
        if constexpr (!hands_over_gradient<policy>)
            own_ = sum_of<1>(state_.tallies + weight, state_.parts, tally_count);
        if constexpr (shots_of < policy >> 0) send_sums(exchange_, word(), own_);
    }
    // One over it, for all threads of a block; what is handed over is added up as it is.
    NACELLE_INLINE float one_over_all() const {
        if constexpr (hands_over_gradient<policy>) return 1.0f;
        else if constexpr (shots_of<policy> == 0) return one_over(own_.at[0]);
        else return one_over(sums_of_all(exchange_, word(), own_).at[0]);
    }

private:
    NACELLE_INLINE uint64_t word() const { return exchange_.first_tally(state_) + 2 * block_; }

    const ExchangeOf<policy>& exchange_;
    const PolicyState& state_;
    uint32_t block_;
    Sums<1> own_;
};
// What the block behind those of the sums does with the tallies.
template <class E, int policy>
NACELLE_INLINE void judge_by_tallies(const ExchangeOf<policy>& exchange, const Arguments& a) {
    const PolicyState& state = a.policy[policy];
    if constexpr (hands_over_gradient<policy>) hand_over_tallies<E, policy>(a);
    else {
        Sums<tally_count> tally = tally_of_slots<policy>(state);
        if constexpr (shots_of < policy >> 0) {
            const uint64_t word = exchange.first_tally(state) + 2 * state.sum_blocks;
            send_sums(exchange, word, tally);
            tally = sums_of_all(exchange, word, tally);
        }
        if (threadIdx.x == 0) judge(state, tally);
    }
}
// A block's sum of the squares that its first threads have.
NACELLE_INLINE void store_squares(double square, double* norm) {
    static_assert(total_together == 32);
    if (threadIdx.x >= uint32_t(total_together)) return;
    square = warp_sum(square);
    if (threadIdx.x == 0) *norm = square;
}
// The mean gradient from the sum over all ranks: as many blocks as leave norms, and one that judges the minibatch.
template <class E, int policy>
NACELLE_INLINE void scale_total(const View<E>&, const Arguments& a, Items items) {
    constexpr uint32_t parameters = uint32_t(Networks<E, policy>::parameters);
    const PolicyState& state = a.policy[policy];
    const uint32_t block = uint32_t(items.begin / block_threads), blocks = state.sum_blocks;
    if (block > blocks || state.found[stopped] != 0) return;
    const Sums<tally_count> tally = tally_of_ranks<E, policy>(state);
    if (block == blocks) {
        if (threadIdx.x == 0) judge(state, tally);
        return;
    }
    const float one = one_over(tally.at[weight]);
    const auto square_of = [&](uint32_t i) {
        const float mean = gradient_of_ranks<E, policy>(state, i) * one;
        state.total[i] = mean;
        return double(mean) * double(mean);
    };
    if constexpr (Spec<policy>::streamed) {
        Sums<1> squares;
        for (uint32_t i = block * block_threads + threadIdx.x; i < parameters;
             i += blocks * block_threads)
            squares.at[0] += square_of(i);
        store_sums(squares, state.norms + block);
    } else {
        const int place = int(block) * total_together + int(threadIdx.x);
        const int i = int(threadIdx.x) < total_together && place < Place<E, policy>::size
                          ? Place<E, policy>::parameter(place)
                          : -1;
        store_squares(i >= 0 ? square_of(uint32_t(i)) : 0.0, state.norms + block);
    }
}

// A block has 32 places of the packed order, a thread four of them; threads share the slots.
inline constexpr int sharers = block_threads / (total_together / 4);
template <class E, int policy>
NACELLE_INLINE void total(const View<E>&, const Arguments& a, Items items) {
    using Here = Place<E, policy>;
    constexpr uint32_t blocks = uint32_t((Here::size + total_together - 1) / total_together);
    // One after the other each would wait for memory: all that a thread has of two blocks a multiprocessor at once.
    constexpr uint32_t at_once = 17;
    __shared__ float parts[sharers][total_together];
    const PolicyState& state = a.policy[policy];
    const uint32_t block = uint32_t(items.begin / block_threads);
    if (block > blocks || state.found[stopped] != 0) return;
    const ExchangeOf<policy> exchange(a);
    if (block == blocks) return judge_by_tallies<E, policy>(exchange, a);
    const int thread = int(threadIdx.x);
    const int mine = thread % (total_together / 4) * 4, share = thread / (total_together / 4),
              first = int(block) * total_together;
    const uint32_t slots = state.parts / shards;    // of a shard
    SampleCount<E, policy> samples(exchange, state, block);
    const auto sum_of_slots = [&](uint32_t shard) {
        Four sum{};
        const auto add_slots = [&](uint32_t from, auto&& meanwhile) {
            Four its[at_once];
            const float* const part =
                state.gradient + size_t(shard * slots) * Here::size + first + mine;
            NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
                const uint32_t slot = from + k * sharers;
                its[k] = first + mine < Here::size && slot < slots
                             ? four_at(part + size_t(slot) * Here::size)
                             : Four{};
            }
            meanwhile();
            NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
                NACELLE_UNROLL for (int i = 0; i < 4; ++i) sum.at[i] += its[k].at[i];
            }
        };
        add_slots(uint32_t(share), [&] {
            if (shard == 0) samples.find();
        });
        for (uint32_t slot = uint32_t(share) + at_once * sharers; slot < slots;
             slot += at_once * sharers)
            add_slots(slot, [] {});
        if (shard > 0) __syncthreads();    // the last shard's have been read
        NACELLE_UNROLL for (int k = 0; k < 4; ++k) parts[share][mine + k] = sum.at[k];
        __syncthreads();
        float all = 0;
        if (thread < total_together) {
            NACELLE_UNROLL for (int k = 0; k < sharers; ++k) all += parts[k][thread];
        }
        return all;
    };
    float all[1] = {over_shards(sum_of_slots)};
    const int place = first + thread;
    const int i = thread < total_together && place < Here::size ? Here::parameter(place) : -1;
    if (i >= 0 && is_blind<E, policy>(i)) all[0] = 0;
    constexpr int shots = shots_of<policy>;
    if constexpr (shots > 0)
        if (i >= 0) exchange.template send<shots>(uint64_t(place), all, block);
    const float one = samples.one_over_all();
    double square = 0;
    if (i >= 0) {
        if constexpr (shots > 0) exchange.template sum<shots>(uint64_t(place), all, block);
        const float mean = all[0] * one;
        hand_over_gradient<E, policy>(a, uint64_t(i), mean);
        square = double(mean) * double(mean);
    }
    store_squares(square, state.norms + block);
}

template <class E, int policy>
NACELLE_INLINE void adam(const View<E>&, const Arguments& a, Items items) {
    constexpr uint32_t parameters = uint32_t(Networks<E, policy>::parameters),
                       stride = step_blocks(parameters) * block_threads, at_once = 4;
    const PolicyState& state = a.policy[policy];
    const uint32_t begin = uint32_t(items.begin);
    float w[at_once], g[at_once], m[at_once], v[at_once];
    const auto load = [&](uint32_t first) {
        NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
            const uint32_t i = first + k * stride;
            if (i >= parameters) continue;
            w[k] = state.weights[i];
            g[k] = state.total[i];
            m[k] = state.moment[i];
            v[k] = state.moment[parameters + i];
        }
    };
    load(begin);
    if constexpr (shots_of < policy >> 0)    // all blocks of the gradient's are through
        if (begin == 0 && state.found[stopped] == 0)
            Exchange::next_turn(*a.of_ranks.peers, gradients_of + uint32_t(policy));
    const bool follows = state.found[too_far] == 0;
    const AdamStep step(state);
    const double longest = double(state.dials[most_norm]);
    const double norm = root(sum_of<1>(state.norms, state.sum_blocks).at[0]),
                 bounded = bounded_step(longest, norm);
    if (begin == 0) {
        if (!follows) state.found[stopped] = 1;
        else {
            state.found[gradient_norm] = norm;
            state.found[step_scale] = bounded;
        }
    }
    if (!follows) return;
    const float scale = float(bounded);
    NACELLE_ROLLED for (uint32_t first = begin; first < parameters; first += at_once * stride) {
        if (first != begin) load(first);
        NACELLE_UNROLL for (uint32_t k = 0; k < at_once; ++k) {
            const uint32_t i = first + k * stride;
            if (i >= parameters) continue;
            const float fresh = step(w[k], g[k] * scale, m[k], v[k]);
            state.moment[i] = m[k];
            state.moment[parameters + i] = v[k];
            state.weights[i] = fresh;
            Prepared<E, policy>::store(state.prepared, int(i), fresh);
        }
    }
}

}
