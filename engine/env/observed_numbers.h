#pragma once
#include "engine/compile/schema.h"

namespace nacelle {

// The numbers that an agent of a group observes: those of its vector, and the elements of its Arrays.
size_t observed_numbers(const EnvSchema& schema, uint32_t group);

}
