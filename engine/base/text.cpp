#include "engine/base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace nacelle {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// The number of bytes of the text's first character; 0 where they are not UTF-8.
struct Character {
    size_t size = 0;
    uint32_t code = 0;
};

Character first_character(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {1, byte(0)};
    const size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return {};
    uint32_t code = byte(0) & (0x7fu >> size);
    for (size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < least[size] || surrogate || code > 0x10ffff) return {};
    return {size, code};
}

// The control characters of ASCII, the second set (C1), which some terminals obey as well, and the characters of
// Unicode that end a line or turn the direction in which text is shown: code would read otherwise than it is.
bool is_control(uint32_t code) {
    const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           turns;
}

// Calls take(bytes, character) for each character, and for each byte that belongs to none.
template <class Take> void each_character(std::string_view text, Take&& take) {
    while (!text.empty()) {
        const Character found = first_character(text);
        const size_t size = found.size ? found.size : 1;
        take(text.substr(0, size), found);
        text.remove_prefix(size);
    }
}

}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    valid.reserve(text.size());
    each_character(text, [&](std::string_view bytes, const Character& found) {
        valid += found.size ? bytes : replacement;
    });
    return valid;
}

bool is_valid_utf8(std::string_view text) {
    bool valid = true;
    each_character(text,
                   [&](std::string_view, const Character& found) { valid &= found.size > 0; });
    return valid;
}

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    each_character(text, [&](std::string_view bytes, const Character& found) {
        if (!found.size) shown += replacement;
        else if (is_control(found.code) && found.code != '\n' && found.code != '\t') {
            char digits[8];
            std::snprintf(digits, sizeof digits, found.code < 0x100 ? "\\x%02x" : "\\u%04x",
                          static_cast<unsigned>(found.code));
            shown += digits;
        } else shown += bytes;
    });
    return shown;
}

bool is_printable_line(std::string_view text) {
    bool plain = true;
    each_character(text, [&](std::string_view, const Character& found) {
        plain &= found.size > 0 && !is_control(found.code);
    });
    return plain;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@%:,=-";
    const auto is_plain = [&](char c) {
        return plain.find(c) != plain.npos || static_cast<unsigned char>(c) >= 0x80;
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
    std::string word = "\"";
    for (const char c : text) {
        if (c == '"' || c == '$' || c == '`' || c == '\\') word += '\\';
        word += c;
    }
    return word + '"';
}

}
