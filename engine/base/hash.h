#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace nacelle {

// 128 bits over a sequence of texts, for cache keys and content names: not for secrets.
class Hash final {
public:
    // The length is part of it, so that ("ab", "c") is not ("a", "bc").
    Hash& add(std::string_view text);
    std::string hex() const;    // 32 digits

private:
    // Both compilers have 128-bit integers; the word keeps -Wpedantic silent about them.
    __extension__ typedef unsigned __int128 Bits;
    Bits state_ = (static_cast<Bits>(0x6c62272e07bb0142ull) << 64) | 0x62b821756295c58dull;
};

// So many digits, written as hex() does.
bool is_hex(std::string_view text, size_t digits);

}
