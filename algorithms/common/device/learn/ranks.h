#pragma once
#include <learn/network.h>
#include <learn/strips.h>
// Several processes, ranks, learn together: each sums over its own samples, and what it hands over here is added up over
// all of them between two kernels. So sums are split from what follows of them; a rank that is alone has neither.

namespace learn {

#if defined(LEARN_RANKS)
inline constexpr bool among_ranks = true;
#else
inline constexpr bool among_ranks = false;
#endif

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
    else if constexpr (group == overview_rows && count_groups(GroupsOf<E>{}) < overview_rows)
        return obs_of_ranks<E, count_groups(GroupsOf<E>{})>();
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

}
