#pragma once
#include "engine/env/environment.h"

namespace nacelle::python {

// The agents of one policy, in one environment.
struct PolicyAgents {
    std::string name;
    uint32_t group = 0, of = 1;    // their group, and how many agents it has
    std::vector<uint32_t> ids;     // theirs in the group, ascending

    bool all() const { return ids.size() == of; }
};

// Of all policies, in the schema's order.
std::vector<PolicyAgents> policy_agents(Environment& env);

}
