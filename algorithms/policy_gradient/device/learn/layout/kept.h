#pragma once
#include <learn/formulas/four.h>
#include <learn/layout/network.h>
#if NACELLE_GPU
#include <learn/gpu/tile/tensor.h>
#endif
// What a rollout keeps of observations: floats as the environment gave them, or pairs of bfloat16, the first number in the
// lower half. Those are normalised, as a network in bf16 sees them, so that learning sees the same bits as choosing did. They
// are not yet cut off at the normaliser's bound, so that its sums count outliers in full.

namespace learn {

#if defined(LEARN_KEPT_PAIRS)
inline constexpr bool keeps_pairs = true;
#else
inline constexpr bool keeps_pairs = false;
#endif
// Of the words of a row of pairs, those that have numbers.
constexpr int pairs_of(int width) { return (width + 1) / 2; }

#if NACELLE_GPU
// How two neighbouring numbers of all rows become a pair. What lies behind the last one becomes zero.
struct PairForm {
    float mean[2], scale[2];

    PairForm() = default;
    NACELLE_INLINE PairForm(const float* means, const float* scales, int pair, int width) {
        NACELLE_UNROLL for (int i = 0; i < 2; ++i) {
            const int k = min(2 * pair + i, width - 1);
            mean[i] = means[k];
            scale[i] = 2 * pair + i < width ? scales[k] : 0;
        }
    }
    NACELLE_INLINE uint32_t operator()(float first, float second) const {
        return pair_of((first - mean[0]) * scale[0], (second - mean[1]) * scale[1]);
    }
};
// A pair of a row of floats, not yet cut.
template <int width>
NACELLE_INLINE uint32_t kept_pair(const float* row, int pair, const auto& scales) {
    const PairForm form(scales.mean, scales.scale, pair, width);
    return form(row[min(2 * pair, width - 1)], row[min(2 * pair + 1, width - 1)]);
}
// And the three behind it, of a whole chunk.
template <int width>
NACELLE_INLINE FourWords kept_four(const float* row, int pair, const auto& scales) {
    FourWords words;
    NACELLE_UNROLL for (int i = 0; i < 4; ++i) words.at[i] =
        kept_pair<width>(row, pair + i, scales);
    return words;
}
NACELLE_INLINE FourWords cut_four(FourWords words) {
    NACELLE_UNROLL for (uint32_t& word : words.at) word = cut_pair(word);
    return words;
}

// A kept row, or none.
template <int width> struct PairRow {
    const uint32_t* at = nullptr;

    explicit NACELLE_INLINE operator bool() const { return at != nullptr; }
    // As a network sees it; `scales` are the normaliser's.
    NACELLE_INLINE uint32_t pair(int p, const auto&) const { return cut_pair(at[p]); }
    // That and the three behind it, of a whole chunk.
    NACELLE_INLINE FourWords four(int p, const auto&) const {
        return cut_four(*reinterpret_cast<const FourWords*>(at + p));
    }
};
// Where an agent stands: floats of the environment, or a kept row.
template <int width> struct StandingRow {
    const float* floats = nullptr;
    PairRow<width> kept = {};

    explicit NACELLE_INLINE operator bool() const { return floats || kept; }
    NACELLE_INLINE uint32_t pair(int p, const auto& scales) const {
        return kept ? kept.pair(p, scales) : cut_pair(kept_pair<width>(floats, p, scales));
    }
    NACELLE_INLINE FourWords four(int p, const auto& scales) const {
        return kept ? kept.four(p, scales) : cut_four(kept_four<width>(floats, p, scales));
    }
};
template <class Row>
inline constexpr bool in_pairs = requires(const Row& row, const Memory& memory) {
    row.pair(0, memory);
};

// Where a team's rollout keeps what it sees, as a record says it (nacelle/device/team/packed_rows.h): the rows of a step.
template <int row_width> struct KeptPairs {
    static constexpr int width = row_width, words = kept_words(width);
    uint32_t* rows = nullptr;
    const float *mean = nullptr, *scale = nullptr;

    explicit NACELLE_INLINE operator bool() const { return rows != nullptr; }
    NACELLE_INLINE PairForm form(int pair) const { return {mean, scale, pair, width}; }
    NACELLE_INLINE uint32_t* row(size_t number) const { return rows + number * size_t(words); }
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
                              at * size_t(kept_words(width))};
    else
#endif
        return static_cast<const float*>((final ? memory.final_obs : memory.obs) +
                                         at * size_t(width));
}
// Part `i` of a row on its way to where row `at` is kept: a number, or a pair of them.
template <int width> inline constexpr int kept_parts = keeps_pairs ? kept_words(width) : width;
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
