#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// The policy that decides for each agent, by groups.
std::vector<std::vector<uint8_t>> deciders_of(Environment& env);

}
