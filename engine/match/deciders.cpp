#include "engine/match/deciders.h"

#include <nacelle/programs/deciders.h>

namespace nacelle {
namespace {

const ProgramText deciders_text{.instantiation =
                                    "#include <nacelle/programs/deciders.h>\nNACELLE_DECIDERS()\n",
                                .headers = {},
                                .defines = {}};

std::vector<uint8_t> asked_deciders(Environment& env) {
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

}

std::vector<std::vector<uint8_t>> deciders_of(Environment& env) {
    const Header& header = env.schema().header();
    std::vector<std::vector<uint8_t>> deciders(header.groups);
    // A policy for each group needs no look at the author's code.
    if (header.groups == header.policies) {
        for (uint32_t p = 0; p < header.policies; ++p) {
            const uint32_t group = header.policy[p].group;
            deciders[group].assign(header.group[group].count, uint8_t(p));
        }
        return deciders;
    }
    const std::vector<uint8_t> asked = asked_deciders(env);
    auto first = asked.begin();
    for (uint32_t group = 0; group < header.groups; ++group) {
        const auto end = first + header.group[group].count;
        deciders[group].assign(first, end);
        first = end;
    }
    return deciders;
}

}
