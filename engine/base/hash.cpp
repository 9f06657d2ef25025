#include "engine/base/hash.h"

#include <cstdint>

namespace nacelle {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

}

// FNV-1a in 128 bits: the offset basis is the initial state, the prime is 2^88 + 0x13b.
Hash& Hash::add(std::string_view text) {
    const Bits prime = (static_cast<Bits>(1) << 88) | 0x13b;
    const auto mix = [&](unsigned char byte) { state_ = (state_ ^ byte) * prime; };

    const uint64_t size = text.size();
    for (int shift = 0; shift < 64; shift += 8) mix(static_cast<unsigned char>(size >> shift));
    for (const char byte : text) mix(static_cast<unsigned char>(byte));
    return *this;
}

std::string Hash::hex() const {
    std::string digits;
    for (int shift = 124; shift >= 0; shift -= 4) {
        digits += hex_digits[static_cast<unsigned>(state_ >> shift) & 15u];
    }
    return digits;
}

bool is_hex(std::string_view text, size_t digits) {
    return text.size() == digits && text.find_first_not_of(hex_digits) == text.npos;
}

}
