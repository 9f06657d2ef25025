#include "engine/match/sides.h"

#include "engine/base/error.h"
#include "engine/match/deciders.h"

namespace nacelle {
namespace {

void require_two_sides(const Environment& env) {
    const Header& header = env.schema().header();
    constexpr const char* instead = "a match is played by two agents of one policy, or by two "
                                    "policies";
    if (header.agents == 1)
        throw Error(env.name(), "is for one agent, who has nobody to play against", instead);
    if (header.policies == 1 && header.agents != 2)
        throw Error(env.name(),
                    "has " + std::to_string(header.agents) +
                        " agents of one policy, and does not say who plays against whom",
                    instead);
    if (header.policies > 2)
        throw Error(env.name(), "has " + std::to_string(header.policies) + " policies", instead);
}

}

Sides sides_of(Environment& env) {
    require_two_sides(env);
    const Header& header = env.schema().header();
    Sides sides{.roles = header.policies == 2, .names = {}, .side_of = {}};
    for (uint32_t side = 0; side < 2; ++side)
        sides.names[side] =
            sides.roles ? header.policy[side].name : "agent " + std::to_string(side);
    if (sides.roles) sides.side_of = deciders_of(env);
    else
        for (uint32_t group = 0; group < header.groups; ++group) sides.side_of.push_back({0, 1});
    return sides;
}

}
