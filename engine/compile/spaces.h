#pragma once
#include "engine/compile/schema.h"

namespace nacelle {

// The first difference between the observations and actions of two environments, in words; empty where there is none
// and a policy of one can act in the other.
std::string difference_of_spaces(const EnvSchema& before, const EnvSchema& after);

}
