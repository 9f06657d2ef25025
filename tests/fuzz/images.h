#pragma once
#include "tests/fuzz/mutation.h"

#include <cstddef>
#include <span>
#include <vector>

// ELF images that hold a table under a symbol's name.
namespace nacelle::fuzz {

// A small shared object with nothing but that.
std::string small_image(const std::string& symbol, const std::string& content);
// The symbol's bytes in an image; empty where it has none.
std::string content_of(const std::string& image, const std::string& symbol);
// Mostly the symbol's bytes are others, by `change`, and the image is as sound as it was; else headers,
// the table of symbols and all the rest are.
template <class Change>
std::string mutated_image(std::string image, const std::string& symbol, const std::string& other,
                          Dice& dice, Change change);

// Where a symbol's bytes lie in the file; nothing (0 bytes) where they cannot be found.
std::span<char> place_of(std::string& image, const std::string& symbol);
std::string damaged_image(std::string image, const std::string& other, Dice& dice);
inline std::span<const std::byte> bytes_of(const std::string& image) {
    return std::as_bytes(std::span(image));
}

template <class Change>
std::string mutated_image(std::string image, const std::string& symbol, const std::string& other,
                          Dice& dice, Change change) {
    const std::span<char> place = place_of(image, symbol);
    if (!place.empty() && dice.chance(0.75)) change(place);
    if (place.empty() || dice.chance(0.5)) return damaged_image(std::move(image), other, dice);
    return image;
}

}
