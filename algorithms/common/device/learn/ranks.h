#pragma once
#include <learn/network.h>
#include <learn/peers.h>
#include <learn/strips.h>
// Several processes, ranks, learn together: each sums over its own samples. Ranks that reach one another's memory add up
// there, inside the kernels. Else what a rank hands over here is added up over all of them between two kernels, and sums
// are split from what follows of them; a rank that is alone has neither.

namespace learn {

#if defined(LEARN_RANKS)
inline constexpr bool among_ranks = true;
#else
inline constexpr bool among_ranks = false;
#endif
#if defined(LEARN_PEERS)
inline constexpr bool by_peers = true;
#else
inline constexpr bool by_peers = false;
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
        return words() - peer_tallies(state.sum_blocks);
    }
};
struct NoExchange {
    NACELLE_INLINE explicit NoExchange(const Arguments&) {}
};
template <int policy>
using ExchangeOf = Either<(shots_of<policy> > 0), PeerGradient<policy>, NoExchange>;

// Tallies travel behind the gradient, each as two floats, so that a sum over ranks is as good as one of doubles.
template <class E, int policy> NACELLE_INLINE float* tallies_of_ranks(const PolicyState& state) {
    return state.total + Networks<E, policy>::parameters;
}
template <class E, int policy> NACELLE_INLINE void hand_over_tallies(const PolicyState& state) {
    const Sums<tally_count> tally = sum_of<tally_count>(state.tallies, state.parts);
    float* const to = tallies_of_ranks<E, policy>(state);
#if NACELLE_GPU
    if (threadIdx.x != 0) return;
#endif
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) {
        to[2 * k] = float(tally.at[k]);
        to[2 * k + 1] = float(tally.at[k] - double(to[2 * k]));
    }
}
template <class E, int policy>
NACELLE_INLINE Sums<tally_count> tally_of_ranks(const PolicyState& state) {
    const float* const from = tallies_of_ranks<E, policy>(state);
    Sums<tally_count> tally;
    NACELLE_UNROLL for (int k = 0; k < tally_count; ++k) tally.at[k] =
        double(from[2 * k]) + double(from[2 * k + 1]);
    return tally;
}
NACELLE_INLINE float one_over(double count) { return count > 0 ? float(1.0 / count) : 0.0f; }

template <class E, int group> constexpr uint64_t obs_of_ranks() {
    if constexpr (group == 0) return OfRanks::obs;
    else
        return obs_of_ranks<E, group - 1>() +
               uint64_t(1 + 2 * seen_in<ObsOf<E, GroupNumber<E, group - 1>>>);
}
template <int count> NACELLE_INLINE void hand_over(const Sums<count>& sums, double* to) {
    NACELLE_UNROLL for (int k = 0; k < count; ++k) to[k] = sums.at[k];
}
template <int count> NACELLE_INLINE Sums<count> handed_over(const double* from) {
    Sums<count> sums;
    NACELLE_UNROLL for (int k = 0; k < count; ++k) sums.at[k] = from[k];
    return sums;
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
