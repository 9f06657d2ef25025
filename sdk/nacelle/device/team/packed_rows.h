#pragma once
#include <nacelle/device/episode/observation.h>
#include <nacelle/device/team/team_threads.h>
// Observations that a record keeps in a form of its own, two numbers in 32 bits: record.packed<group>(t) is where those of
// step t go, or false. Rows have `words` of them, form(pair) says how two numbers of all rows are packed, also behind the
// last number of a row, and row(number) is where that of the group begins.

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

template <class Packed>
NACELLE_INLINE void pack_word(const Packed& packed, size_t row, int pair, const float* numbers) {
    constexpr int last = Packed::width - 1;
    store_streaming(packed.row(row)[pair], packed.form(pair)(numbers[min(2 * pair, last)],
                                                             numbers[min(2 * pair + 1, last)]));
}
// One row, by a thread alone.
template <class Packed>
NACELLE_INLINE void pack_row(const Packed& packed, size_t row, const float* numbers) {
    NACELLE_ROLLED for (int pair = 0; pair < Packed::words; ++pair)
        pack_word(packed, row, pair, numbers);
}
#if NACELLE_GPU
// The pairs of each row that a thread of a unit packs, every so many of them, and how: looked up once for all rows. What is
// more than a few is looked up again and again.
template <class Packed, int unit> struct OwnPairs {
    static constexpr int words = Packed::words, most = 8,
                         together = min(most, (words + unit - 1) / unit), last = Packed::width - 1;
    decltype(Packed{}.form(0)) form[together];
    int own;

    NACELLE_INLINE explicit OwnPairs(const Packed& packed) : own(int(threadIdx.x) % unit) {
        look_up(packed, 0);
    }
    NACELLE_INLINE void look_up(const Packed& packed, int base) {
        if (!packed) return;
        NACELLE_UNROLL for (int c = 0; c < together; ++c) form[c] =
            packed.form(min(base + c * unit + own, words - 1));
    }
    // `rows` of them that lie side by side; number(r), which all threads of the unit ask together, is that of row r in the
    // group. Gives whether all numbers are finite.
    template <class Number>
    NACELLE_INLINE bool pack(const Packed& packed, const float* from, int rows, Number&& number) {
        float zero = 0;
        NACELLE_ROLLED for (int base = 0; base < words; base += together * unit) {
            if (words > together * unit) look_up(packed, base);
            NACELLE_TWICE for (int r = 0; r < rows; ++r) {
                const float* const numbers = from + r * Packed::width;
                uint32_t* const to = packed.row(number(r)) + base + own;
                float two[together][2];
                NACELLE_UNROLL for (int c = 0; c < together; ++c) {
                    const int first = 2 * (base + c * unit + own);
                    two[c][0] = numbers[min(first, last)];
                    two[c][1] = numbers[min(first + 1, last)];
                }
                NACELLE_UNROLL for (int c = 0; c < together; ++c) {
                    zero = fused(two[c][0], 0.0f, fused(two[c][1], 0.0f, zero));
                    const uint32_t pair = form[c](two[c][0], two[c][1]);
                    if (base + c * unit + own < words) store_streaming(to[c * unit], pair);
                }
            }
        }
        return zero == 0.0f;
    }
};
template <int unit> struct OwnPairs<Unpacked, unit> {
    NACELLE_INLINE explicit OwnPairs(const Unpacked&) {}
};
#endif

}
