#pragma once
#include "engine/compile/schema.h"

#include <vector>

namespace nacelle {

// The numbers that an agent of a group observes: those of its vector, and the elements of its Arrays.
size_t observed_numbers(const EnvSchema& schema, uint32_t group);

// An array of what an agent observes, and its numbers for one agent.
struct Observed {
    const Field* field;
    size_t count;
};
// In the order in which a policy sees them: the vector of numbers, then the Arrays.
std::vector<Observed> observed_arrays(const EnvSchema& schema, uint32_t group);

}
