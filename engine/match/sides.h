#pragma once
#include "engine/env/environment.h"

#include <array>

namespace nacelle {

// The two sides of an environment's games: its two policies, or two agents of one policy.
struct Sides {
    bool roles = false;    // each side is a policy, so that the sides may differ in all
    std::array<std::string, 2> names;
    std::vector<std::vector<uint8_t>> side_of;    // of each agent, by groups

    // The policy of the environment that decides for a side.
    uint32_t policy(uint32_t side) const { return roles ? side : 0; }
};

// Throws, with what is needed, where an environment does not have two sides.
Sides sides_of(Environment& env);

}
