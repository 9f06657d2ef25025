#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace nacelle {

// A 128-bit hash over a sequence of texts, for cache keys and content names. It is not cryptographic.
class Hash final {
public:
    // Includes the length, so that ("ab", "c") and ("a", "bc") differ.
    Hash& add(std::string_view text);
    std::string hex() const;    // 32 digits

private:
    // `__extension__` keeps -Wpedantic silent about 128-bit integers, which both compilers have.
    __extension__ typedef unsigned __int128 Bits;
    Bits state_ = (static_cast<Bits>(0x6c62272e07bb0142ull) << 64) | 0x62b821756295c58dull;
};

// Whether the text is this many digits as hex() writes them.
bool is_hex(std::string_view text, size_t digits);

}
