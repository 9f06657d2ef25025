#pragma once
#include "engine/arrays/registry.h"
#include "engine/run/safetensors.h"

#include <string>

namespace nacelle {

// The name and the first number of a learner's array that is not finite; empty if all are. A replay and the memories
// of agents, of which each rank has a part, are left out.
std::string wrong_number_of(const NamedArray& array, const Tensor& tensor);
// Throws for such a number in a checkpoint.
void require_finite(const NamedArray& array, const Tensor& tensor, const std::string& where);

}
