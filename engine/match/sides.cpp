#include "engine/match/sides.h"

#include "engine/base/error.h"

#include <nacelle/programs/deciders.h>

namespace nacelle {
namespace {

const ProgramText deciders_text{.instantiation =
                                    "#include <nacelle/programs/deciders.h>\nNACELLE_DECIDERS()\n",
                                .headers = {},
                                .defines = {}};

// The policy of each agent, group after group.
std::vector<uint8_t> deciders_of(Environment& env) {
    const uint32_t agents = env.schema().header().agents;
    const Buffer there(env.on().device, agents);
    Program& program = env.programs().add(deciders_text);
    const DecidersArgs args{.policy = static_cast<uint8_t*>(there.data()), .agents = agents};
    env.launch(program.kernel("nacelle_deciders"), thread_each(agents), args_of(args));
    std::vector<uint8_t> policies(agents);
    env.on().stream->to_host(policies.data(), there.data(), agents);
    env.on().stream->synchronize();
    env.programs().release(program);
    return policies;
}

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
    // A group for each policy needs no look at the author's code.
    const bool by_group = header.groups == 2;
    const std::vector<uint8_t> deciders =
        sides.roles && !by_group ? deciders_of(env) : std::vector<uint8_t>{0, 1};
    for (uint32_t group = 0; group < header.groups; ++group) {
        const uint32_t count = header.group[group].count;
        sides.side_of.push_back(by_group ? std::vector<uint8_t>(count, uint8_t(group)) : deciders);
    }
    return sides;
}

}
