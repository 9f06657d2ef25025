#pragma once
#include "tests/support/random.h"

#include <cstring>
#include <string>

namespace nacelle::fuzz {

using test::Dice;

// Numbers at which readers go wrong: 0, -1, powers of two and their neighbours, or any.
uint64_t odd_number(Dice& dice);
// Texts at which they do: long ones, none, control characters, bytes that are no UTF-8, quotes, numbers.
std::string odd_text(Dice& dice);
// A number as somebody would write it: "-1", "1e308", "18446744073709551616".
std::string odd_digits(Dice& dice);

// A few bytes are others, gone, doubled, or those of `other`.
std::string mutated_bytes(std::string bytes, const std::string& other, Dice& dice);
// The same for a text: words and numbers in it are replaced as well.
std::string mutated_text(std::string text, const std::string& other, Dice& dice);

void replace_all(std::string& text, const std::string& mark, const std::string& by);

// Whole numbers as files have them, the lowest byte first.
template <class T> void put(std::string& bytes, size_t at, T value) {
    if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T> T get(const std::string& bytes, size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

}
