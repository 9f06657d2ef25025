#include "python/binding/policy_agents.h"

#include "engine/match/deciders.h"

namespace nacelle::python {

std::vector<PolicyAgents> policy_agents(Environment& env) {
    const Header& header = env.schema().header();
    std::vector<PolicyAgents> all;
    for (uint32_t p = 0; p < header.policies; ++p) {
        const uint32_t group = header.policy[p].group;
        all.push_back({.name = header.policy[p].name,
                       .group = group,
                       .of = header.group[group].count,
                       .ids = {}});
    }
    const std::vector<std::vector<uint8_t>> deciders = deciders_of(env);
    for (const std::vector<uint8_t>& group : deciders)
        for (uint32_t id = 0; id < group.size(); ++id) all[group[id]].ids.push_back(id);
    return all;
}

}
