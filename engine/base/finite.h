#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nacelle {

// True for a NaN or an infinity, by its bits: no option of a compiler changes that.
inline bool is_not_finite(float number) {
    constexpr uint32_t exponent = 0x7f800000u;
    return (std::bit_cast<uint32_t>(number) & exponent) == exponent;
}
inline bool is_not_finite(double number) {
    constexpr uint64_t exponent = 0x7ff0000000000000u;
    return (std::bit_cast<uint64_t>(number) & exponent) == exponent;
}

// The place of the first number that is a NaN or an infinity; `count` where there is none.
template <class T> size_t first_not_finite(const T* numbers, size_t count) {
    // Without a branch for each: all are looked at before one is looked for.
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; ++i) wrong |= is_not_finite(numbers[i]) ? 1 : 0;
    if (!wrong) return count;
    size_t i = 0;
    while (!is_not_finite(numbers[i])) ++i;
    return i;
}

}
