#pragma once
#include "engine/compile/schema.h"

#include <cstdint>

namespace nacelle {

// Every `step`-th agent from the first to the last, counted over all groups.
struct AgentRange {
    int64_t first = 0, last = 0, step = 1;
};
// The agents for which one network decides.
struct AssignedPolicy {
    std::string name;
    std::vector<AgentRange> agents;
};
// In the order of their first agents; none where the author's file decides.
using AssignedPolicies = std::vector<AssignedPolicy>;

// As the SDK's macros take them; `where` is for messages. Names become code: others than identifiers throw.
std::vector<std::string> policy_defines(const AssignedPolicies& policies, const std::string& where);
// Throws where an agent of the environment has no policy, where there is no such agent, or where one policy has agents of
// two groups, which see and do other things.
void require_agents(const AssignedPolicies& policies, const EnvSchema& schema,
                    const std::string& where);

}
