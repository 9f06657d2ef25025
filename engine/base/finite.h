#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nacelle {

// True for a NaN or an infinity, by its bits: no option of a compiler changes that.
template <std::floating_point T> bool is_not_finite(T number) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits exponent = sizeof(T) == 4 ? Bits(0xff) << 23 : Bits(uint64_t(0x7ff) << 52);
    return (std::bit_cast<Bits>(number) & exponent) == exponent;
}

// The place of the first number that is a NaN or an infinity; `count` where there is none.
template <std::floating_point T> size_t first_not_finite(const T* numbers, size_t count) {
    // Without a branch for each: all are looked at before one is looked for.
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; ++i) wrong |= uint32_t(is_not_finite(numbers[i]));
    if (!wrong) return count;
    size_t i = 0;
    while (!is_not_finite(numbers[i])) ++i;
    return i;
}

}
