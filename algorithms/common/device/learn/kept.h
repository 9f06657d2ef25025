#pragma once
#include <learn/network.h>
#if NACELLE_GPU
#include <learn/gpu/tensor.h>
#endif
// What a rollout keeps of observations: floats as the environment gave them, or pairs of bfloat16, the first number in the
// lower half. Those are as a network in bf16 sees them, normalised, but not yet cut: what is seen again is what was chosen
// by, to the bit, and their sums know of what lies far out.

namespace learn {

#if defined(LEARN_KEPT_PAIRS)
inline constexpr bool keeps_pairs = true;
#else
inline constexpr bool keeps_pairs = false;
#endif

#if NACELLE_GPU
// How two neighbouring numbers of all rows become a pair; behind the last number of a row lies a zero.
struct PairForm {
    float mean[2], scale[2];

    NACELLE_INLINE PairForm(const float* means, const float* scales, int pair, int width)
        : mean{means[2 * pair], 2 * pair + 1 < width ? means[2 * pair + 1] : 0},
          scale{scales[2 * pair], 2 * pair + 1 < width ? scales[2 * pair + 1] : 0} {}
    NACELLE_INLINE float normal(float number, int half) const {
        return (number - mean[half]) * scale[half];
    }
    NACELLE_INLINE uint32_t operator()(float first, float second) const {
        return pair_of(normal(first, 0), normal(second, 1));
    }
};
// A pair of a row of floats, not yet cut.
template <int width>
NACELLE_INLINE uint32_t kept_pair(const float* row, int pair, const auto& scales) {
    const int k = 2 * pair;
    return PairForm(scales.mean, scales.scale, pair, width)(row[k], k + 1 < width ? row[k + 1] : 0);
}

// A kept row, or none.
template <int width> struct PairRow {
    static constexpr int pairs = pairs_of_row(width);
    const uint32_t* at = nullptr;

    explicit NACELLE_INLINE operator bool() const { return at != nullptr; }
    // As a network sees it; `scales` are the normaliser's.
    NACELLE_INLINE uint32_t pair(int p, const auto&) const { return cut_pair(at[p]); }
};
// Where an agent stands: floats of the environment, or a kept row.
template <int width> struct StandingRow {
    const float* floats = nullptr;
    PairRow<width> kept = {};

    explicit NACELLE_INLINE operator bool() const { return floats || kept; }
    NACELLE_INLINE uint32_t pair(int p, const auto& scales) const {
        return kept ? kept.pair(p, scales) : cut_pair(kept_pair<width>(floats, p, scales));
    }
};
template <class Row>
inline constexpr bool in_pairs = requires(const Row& row, const Memory& memory) {
    row.pair(0, memory);
};

// Where a team's rollout keeps what it sees, as a record says it: the rows of one step of a group.
template <int width> struct KeptPairs {
    uint32_t* rows = nullptr;
    const float *mean = nullptr, *scale = nullptr;

    explicit NACELLE_INLINE operator bool() const { return rows != nullptr; }
    NACELLE_INLINE PairForm form(int pair) const { return {mean, scale, pair, width}; }
    NACELLE_INLINE void store(size_t row, int pair, const PairForm& form, float first,
                              float second) const {
        store_streaming(rows[row * size_t(pairs_of_row(width)) + size_t(pair)],
                        form(first, second));
    }
};
#else
template <class Row> inline constexpr bool in_pairs = false;
#endif

// Row `at` of those that are kept, or of ends that were cut short.
template <int width>
NACELLE_INLINE auto kept_row(const Memory& memory, size_t at, bool final = false) {
#if NACELLE_GPU
    if constexpr (keeps_pairs)
        return PairRow<width>{(final ? memory.final_pairs : memory.pairs) +
                              at * size_t(pairs_of_row(width))};
    else
#endif
        return static_cast<const float*>((final ? memory.final_obs : memory.obs) +
                                         at * size_t(width));
}
// Part `i` of a row on its way to where row `at` is kept: a number, or a pair of them.
template <int width> inline constexpr int kept_parts = keeps_pairs ? pairs_of_row(width) : width;
template <int width>
NACELLE_INLINE void keep_part(const Memory& memory, size_t at, bool final, const float* row,
                              int i) {
    const size_t to = at * size_t(kept_parts<width>) + size_t(i);
#if NACELLE_GPU
    if constexpr (keeps_pairs) {
        (final ? memory.final_pairs : memory.pairs)[to] = kept_pair<width>(row, i, memory);
        return;
    }
#endif
    (final ? memory.final_obs : memory.obs)[to] = row[i];
}
template <int width>
NACELLE_INLINE void keep_row(const Memory& memory, size_t at, bool final, const float* row) {
    for (int i = 0; i < kept_parts<width>; ++i) keep_part<width>(memory, at, final, row, i);
}

}
