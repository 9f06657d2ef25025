#pragma once
#include <nacelle/device/episode/observation.h>
#include <nacelle/device/team/team_threads.h>
// Observations that a record keeps in a form of its own, two numbers in 32 bits: record.packed<group>(t) is where those of
// step t go, or false. Its form(pair) says how two numbers of all rows are packed, and store(row, pair, form, first, second)
// packs those of one row of the group.

namespace nacelle::detail {

template <class Record> inline constexpr bool packs = requires(const Record& record) {
    record.template packed<0>(0);
};
// Where rows stay floats.
struct Unpacked {
    explicit constexpr operator bool() const { return false; }
};
// What keeps the observations of step t, unless they are the last ones of an episode.
template <int group, class Record>
NACELLE_INLINE auto packed_at(const Record& record, int t, bool final) {
    if constexpr (packs<Record>) {
        auto packed = record.template packed<group>(t);
        if (final) packed = {};
        return packed;
    } else {
        (void)record, (void)t, (void) final;
        return Unpacked{};
    }
}

constexpr int pairs_of_row(int width) { return (width + 1) / 2; }
template <int width>
NACELLE_INLINE void pack_pair(const auto& packed, const auto& form, size_t row, int pair,
                              const float* numbers) {
    packed.store(row, pair, form, numbers[2 * pair],
                 2 * pair + 1 < width ? numbers[2 * pair + 1] : 0.0f);
}
// One row, by a thread alone.
template <int width>
NACELLE_INLINE void pack_row(const auto& packed, size_t row, const float* numbers) {
    NACELLE_ROLLED for (int pair = 0; pair < pairs_of_row(width); ++pair)
        pack_pair<width>(packed, packed.form(pair), row, pair, numbers);
}
#if NACELLE_GPU
// `rows` of them that lie side by side, by all threads of a unit; number(r), which all of them ask together, is that of
// row r in the group. Gives whether all numbers are finite.
template <class E, int width, class Number>
NACELLE_INLINE bool pack_rows(const auto& packed, const float* from, int rows, Number&& number) {
    constexpr int pairs = pairs_of_row(width), unit = Shape<E>::unit;
    float zero = 0;
    NACELLE_ROLLED for (int base = 0; base < pairs; base += unit) {
        const int own = base + int(threadIdx.x) % unit, pair = min(own, pairs - 1);
        const auto form = packed.form(pair);
        NACELLE_FOURFOLD for (int r = 0; r < rows; ++r) {
            const float* const numbers = from + r * width;
            const size_t row = number(r);
            zero = fused(numbers[2 * pair], 0.0f, zero);
            if (2 * pair + 1 < width) zero = fused(numbers[2 * pair + 1], 0.0f, zero);
            if (own < pairs) pack_pair<width>(packed, form, row, pair, numbers);
        }
    }
    return zero == 0.0f;
}
#endif

}
