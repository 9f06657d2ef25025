#pragma once
#include "engine/compile/schema.h"

#include <vector>

namespace nacelle {

// The numbers that an agent of a group observes: those of its vector, and the elements of its Arrays.
size_t observed_numbers(const EnvSchema& schema, uint32_t group);

// The arrays of a group's observations in the order in which a policy sees them: the vector of numbers, then the Arrays.
std::vector<const Field*> observed_arrays(const EnvSchema& schema, uint32_t group);

}
