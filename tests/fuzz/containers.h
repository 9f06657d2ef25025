#pragma once
#include "tests/fuzz/mutation.h"

// Files that hold a JSON text and data, for more than one target.
namespace nacelle::fuzz {

// A file of some tensors.
std::string sample_tensors(size_t count);
// Its header is mutated as JSON, and its length mostly the one that it then has.
std::string mutated_tensors(const std::string& file, const std::string& other, Dice& dice);

// Two texts as one, and back: the length of the first in 8 bytes before it.
std::string joined(const std::string& first, const std::string& second);
std::pair<std::string, std::string> parted(const std::string& both);

}
