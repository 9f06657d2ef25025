#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cctype>

namespace nacelle::fuzz {
namespace {

// No input grows beyond what is read in an instant.
constexpr size_t most_bytes = size_t(1) << 20;

// A piece of a text, mostly a short one.
struct Piece {
    size_t at, size;
};
Piece piece_of(const std::string& text, Dice& dice) {
    const size_t at = dice.index(text.size() + 1), left = text.size() - at;
    const size_t most = dice.chance(0.8) ? std::min<size_t>(left, 16) : left;
    return {at, dice.index(most + 1)};
}

void replace_number(std::string& bytes, Dice& dice) {
    constexpr size_t sizes[] = {1, 2, 4, 8};
    const size_t size = sizes[dice.index(4)];
    if (bytes.size() < size) return;
    size_t at = dice.index(bytes.size() - size + 1);
    if (dice.chance(0.7)) at -= at % size;
    const uint64_t number = odd_number(dice);
    std::memcpy(bytes.data() + at, &number, size);
}

void mutate_once(std::string& bytes, const std::string& other, Dice& dice) {
    const auto [at, size] = piece_of(bytes, dice);
    switch (dice.below(9)) {
        case 0:
            if (!bytes.empty()) bytes[dice.index(bytes.size())] ^= char(1 << dice.below(8));
            break;
        case 1:
            if (!bytes.empty()) bytes[dice.index(bytes.size())] = char(dice.below(256));
            break;
        case 2: replace_number(bytes, dice); break;
        case 3: bytes.erase(at, size); break;
        case 4: bytes.insert(at, bytes.substr(at, size)); break;
        case 5: {
            const Piece from = piece_of(other, dice);
            bytes.replace(at, size, other, from.at, from.size);
            break;
        }
        case 6: bytes.resize(dice.index(bytes.size() + 1)); break;
        case 7: bytes.insert(at, odd_text(dice)); break;
        default: bytes.replace(at, size, size, char(dice.chance(0.5) ? 0 : 0xff)); break;
    }
}

bool is_number_part(char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) || letter == '.';
}

// One of the numbers that are written in a text.
void replace_digits(std::string& text, Dice& dice) {
    if (text.empty()) return;
    const size_t from = dice.index(text.size());
    const auto first = std::find_if(text.begin() + ptrdiff_t(from), text.end(), is_number_part),
               last = std::find_if_not(first, text.end(), is_number_part);
    text.replace(first, last, odd_digits(dice));
}

}

uint64_t odd_number(Dice& dice) {
    switch (dice.below(6)) {
        case 0: return 0;
        case 1: return ~uint64_t(0);
        case 2: return dice.index(20);
        case 3: return dice.bits();
        default: {
            const uint64_t power = uint64_t(1) << dice.below(64);
            return power + uint64_t(dice.below(5)) - 2;
        }
    }
}

std::string odd_digits(Dice& dice) {
    constexpr const char* words[] = {"0",
                                     "-1",
                                     "-0",
                                     "1e308",
                                     "-1e308",
                                     "1e-400",
                                     "2147483648",
                                     "4294967296",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "1e309",
                                     "0.1",
                                     "NaN",
                                     "Infinity"};
    if (dice.chance(0.3)) return std::to_string(odd_number(dice));
    if (dice.chance(0.05)) return std::string(1 + dice.index(400), '9');
    return words[dice.index(std::size(words))];
}

std::string odd_text(Dice& dice) {
    constexpr const char* words[] = {"",
                                     "\"",
                                     "'",
                                     "\\",
                                     "\n",
                                     "\x1b[2J\x1b]0;title\x07",
                                     "\xff\xfe",
                                     "\xc3\x28",
                                     "\xed\xa0\x80",
                                     "../../x",
                                     "/",
                                     "a.b..c",
                                     "%s%n",
                                     "<script>",
                                     "\r\n\r\n",
                                     "[[[[[[",
                                     "{{{{",
                                     "\xef\xbb\xbf",
                                     "null",
                                     "f32",
                                     "step-",
                                     ".json",
                                     "__metadata__",
                                     "uniform"};
    if (dice.chance(0.1)) return std::string(1 + dice.index(70000), char('a' + dice.below(26)));
    if (dice.chance(0.1)) return std::string(1 + dice.index(200), '\0');
    if (dice.chance(0.2)) return odd_digits(dice);
    return words[dice.index(std::size(words))];
}

std::string mutated_bytes(std::string bytes, const std::string& other, Dice& dice) {
    const int count = 1 << dice.below(4);
    for (int i = 0; i < count; ++i) mutate_once(bytes, other, dice);
    if (bytes.size() > most_bytes) bytes.resize(most_bytes);
    return bytes;
}

std::string mutated_text(std::string text, const std::string& other, Dice& dice) {
    if (dice.chance(0.4)) replace_digits(text, dice);
    else text = mutated_bytes(std::move(text), other, dice);
    return text;
}

void replace_all(std::string& text, const std::string& mark, const std::string& by) {
    for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + by.size()))
        text.replace(at, mark.size(), by);
}

}
