#pragma once
#include <learn/layout/network.h>
#include <learn/sums/peers.h>
#include <learn/sums/strips.h>
// Several processes, ranks, learn together: each sums over its own samples. Ranks that reach one another's memory add up
// there, inside the kernels. Else what a rank hands over here is added up over all of them between two kernels, and sums
// are split from what follows of them; a rank that is alone has neither.

namespace learn {

#if defined(LEARN_PEERS)
inline constexpr bool by_peers = true;
#else
inline constexpr bool by_peers = false;
#endif
// Whether gradients of more than two ranks are brought together by the communicator, and added up by each rank.
#if defined(LEARN_GATHERS)
inline constexpr bool gathers_gradients = rank_count > 2;
#else
inline constexpr bool gathers_gradients = false;
#endif
// Whether statistics are handed over, and a policy's gradient.
inline constexpr bool hands_over = among_ranks && !by_peers;
template <int policy> constexpr int steps_of_exchange() {
    if constexpr (by_peers) return Spec<policy>::shots;
    else return 0;
}
template <int policy> inline constexpr int shots_of = steps_of_exchange<policy>();
template <int policy>
inline constexpr bool hands_over_gradient = among_ranks&& shots_of<policy> == 0;

// Of a policy's gradient, where there is one.
template <int policy> struct PeerGradient : Exchange {
    NACELLE_INLINE explicit PeerGradient(const Arguments& a)
        : Exchange(*a.of_ranks.peers, gradients_of + uint32_t(policy)) {}
    NACELLE_INLINE uint64_t first_tally(const PolicyState& state) const {
        return words() - 2 * peer_tallies(state.sum_blocks);
    }
};
struct NoExchange {
    NACELLE_INLINE explicit NoExchange(const Arguments&) {}
};
template <int policy>
using ExchangeOf = Either<(shots_of<policy> > 0), PeerGradient<policy>, NoExchange>;

// What goes through a communicator has a place for each rank, of which every rank fills its own and leaves zeros in the
// others: the communicator, whatever its order, only brings them together, and each rank adds up the tree. Two ranks have
// one order alone, so that a gradient of theirs needs one place.
template <int policy>
inline constexpr uint64_t gradient_places = (hands_over_gradient<policy> && gathers_gradients)
                                                ? uint64_t(rank_count)
                                                : 1;
template <class T>
NACELLE_INLINE void fill_places(T* places, uint64_t pitch, uint32_t rank, T value) {
    NACELLE_ROLLED for (uint32_t r = 0; r < uint32_t(rank_count); ++r) places[r * pitch] =
        r == rank ? value : T(0);
}
template <class T> NACELLE_INLINE T sum_of_places(const T* places, uint64_t pitch) {
    TreeSum<T, uint32_t(rank_count)> tree;
    NACELLE_ROLLED for (uint32_t r = 0; r < uint32_t(rank_count); ++r) tree.add(places[r * pitch]);
    return tree.sum();
}
NACELLE_INLINE void hand_over(double value, const Arguments& a, uint64_t number) {
    fill_places(a.of_ranks.sums + number * uint64_t(rank_count), 1, uint32_t(a.rank), value);
}
NACELLE_INLINE double handed_over(const Arguments& a, uint64_t number) {
    return sum_of_places(a.of_ranks.sums + number * uint64_t(rank_count), 1);
}
template <int count>
NACELLE_INLINE void hand_over(const Sums<count>& sums, const Arguments& a, uint64_t first) {
    NACELLE_UNROLL for (int k = 0; k < count; ++k) hand_over(sums.at[k], a, first + uint64_t(k));
}
template <int count> NACELLE_INLINE Sums<count> handed_over(const Arguments& a, uint64_t first) {
    Sums<count> sums;
    NACELLE_UNROLL for (int k = 0; k < count; ++k) sums.at[k] = handed_over(a, first + uint64_t(k));
    return sums;
}
// Where a CPU leaves what is summed over a shard at once.
template <class E, int policy>
NACELLE_INLINE float* gradient_of_shard(const PolicyState& state, uint32_t shard) {
    if constexpr (shards == 1) return state.total;
    else return state.gradient + size_t(shard) * size_t(Networks<E, policy>::parameters);
}
// A number of the gradient.
template <class E, int policy>
NACELLE_INLINE void hand_over_gradient(const Arguments& a, uint64_t i, float value) {
    constexpr uint64_t parameters = uint64_t(Networks<E, policy>::parameters);
    float* const total = a.policy[policy].total + i;
    if constexpr (gradient_places<policy> == 1) *total = value;
    else fill_places(total, parameters, uint32_t(a.rank), value);
}
template <class E, int policy>
NACELLE_INLINE float gradient_of_ranks(const PolicyState& state, uint64_t i) {
    if constexpr (gradient_places<policy> == 1) return state.total[i];
    else return sum_of_places(state.total + i, uint64_t(Networks<E, policy>::parameters));
}

// Tallies travel behind the gradient, each as three floats, which have all bits of a double.
template <class E, int policy> NACELLE_INLINE float* tallies_of_ranks(const PolicyState& state) {
    return state.total + gradient_places<policy> * uint64_t(Networks<E, policy>::parameters);
}
// What is told of a minibatch by the slots; those of a GPU whose layers go through memory are of all shards together.
template <int policy> NACELLE_INLINE Sums<tally_count> tally_of_slots(const PolicyState& state) {
    if constexpr (NACELLE_GPU && Spec<policy>::streamed)
        return sum_of<tally_count>(state.tallies, state.parts);
    else return sum_of_shards<tally_count>(state.tallies, state.parts / shards);
}
template <class E, int policy> NACELLE_INLINE void hand_over_tallies(const Arguments& a) {
    const PolicyState& state = a.policy[policy];
    const Sums<tally_count> tally = tally_of_slots<policy>(state);
    float* to = tallies_of_ranks<E, policy>(state);
#if NACELLE_GPU
    if (threadIdx.x != 0) return;
#endif
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) {
        double left = tally.at[k];
        NACELLE_UNROLL for (int part = 0; part < tally_parts; ++part, to += rank_count) {
            const float its = float(left);
            fill_places(to, 1, uint32_t(a.rank), its);
            left -= double(its);
        }
    }
}
template <class E, int policy>
NACELLE_INLINE Sums<tally_count> tally_of_ranks(const PolicyState& state) {
    const float* const from = tallies_of_ranks<E, policy>(state);
    Sums<tally_count> tally;
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) {
        TreeSum<double, uint32_t(rank_count)> tree;
        NACELLE_ROLLED for (int r = 0; r < rank_count; ++r) {
            double its = 0;
            NACELLE_UNROLL for (int part = 0; part < tally_parts; ++part) its +=
                double(from[(k * tally_parts + part) * rank_count + r]);
            tree.add(its);
        }
        tally.at[k] = tree.sum();
    }
    return tally;
}
NACELLE_INLINE float one_over(double count) { return count > 0 ? float(1.0 / count) : 0.0f; }

template <class E, int group> constexpr uint64_t obs_of_ranks() {
    if constexpr (group == 0) return OfRanks::obs;
    else if constexpr (group == overview_rows && count_groups(GroupsOf<E>{}) < overview_rows)
        return obs_of_ranks<E, count_groups(GroupsOf<E>{})>();
    else
        return obs_of_ranks<E, group - 1>() +
               uint64_t(1 + 2 * seen_in<ObsOf<E, GroupNumber<E, group - 1>>>);
}

// A block's sums over all ranks.
#if NACELLE_GPU
// A thread sends each and waits for it; all threads have the block's own, and those of all ranks in the end.
template <int count>
NACELLE_INLINE void send_sums(const Exchange& exchange, uint64_t word, const Sums<count>& own) {
    static_assert(count <= block_threads);
    NACELLE_UNROLL for (int k = 0; k < count; ++k) if (int(threadIdx.x) == k)
        exchange.send(word + 2 * uint64_t(k), own.at[k]);
}
template <int count>
NACELLE_INLINE Sums<count> sums_of_all(const Exchange& exchange, uint64_t word,
                                       const Sums<count>& own) {
    __shared__ double all[count];
    double mine = 0;
    NACELLE_UNROLL for (int k = 0; k < count; ++k) mine = int(threadIdx.x) == k ? own.at[k] : mine;
    if (int(threadIdx.x) < count)
        all[threadIdx.x] = exchange.sum(word + 2 * uint64_t(threadIdx.x), mine);
    __syncthreads();
    Sums<count> sums;
    NACELLE_UNROLL for (int k = 0; k < count; ++k) sums.at[k] = all[k];
    return sums;
}
// By the one block that ends them.
template <int count>
NACELLE_INLINE Sums<count> statistics_of_all(const Arguments& a, int policy,
                                             const Sums<count>& own) {
    if constexpr (!by_peers) return own;
    else {
        const uint32_t place = statistics_of + uint32_t(policy);
        const Exchange exchange(*a.of_ranks.peers, place);
        send_sums(exchange, 0, own);
        const Sums<count> all = sums_of_all(exchange, 0, own);
        if (threadIdx.x == 0) Exchange::next_turn(*a.of_ranks.peers, place);
        return all;
    }
}
#else
template <int count>
NACELLE_INLINE Sums<count> statistics_of_all(const Arguments&, int, const Sums<count>& own) {
    return own;
}
#endif

}
