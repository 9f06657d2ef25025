#pragma once
#include "engine/config/config.h"
#include "tests/fuzz/mutation.h"

namespace nacelle::fuzz {

// One value of it is another, gone, doubled, wrapped, or one of `other`.
Json mutated_json(Json json, const Json& other, Dice& dice);
// As a text, in which what no Json can hold is written as well: a value thousands of levels deep, and
// bytes that are no UTF-8.
std::string json_text(const Json& json, Dice& dice);
// The text of a JSON value, mutated as a tree or as a text.
std::string mutated_json_text(const std::string& text, const std::string& other, Dice& dice);

}
