#include "engine/compile/assigned_policies.h"

#include "engine/base/error.h"
#include "engine/compile/layout_defines.h"

#include <algorithm>

namespace nacelle {
namespace {

constexpr const char* key = "env.policies";

bool has(const AssignedPolicy& policy, int64_t agent) {
    return std::any_of(policy.agents.begin(), policy.agents.end(), [&](const AgentRange& range) {
        return agent >= range.first && agent <= range.last &&
               (agent - range.first) % range.step == 0;
    });
}

// The agents that nobody decides for, as "3", "3 to 7" or "3 to 7 and others".
std::string without_policy(const AssignedPolicies& policies, int64_t agents) {
    const auto decided = [&](int64_t agent) {
        return std::any_of(policies.begin(), policies.end(),
                           [&](const AssignedPolicy& policy) { return has(policy, agent); });
    };
    int64_t first = 0, last = 0, more = 0;
    while (first < agents && decided(first)) ++first;
    if (first == agents) return {};
    for (last = first; last + 1 < agents && !decided(last + 1);) ++last;
    for (more = last + 1; more < agents && decided(more);) ++more;
    const bool one = first == last && more == agents;
    return (one ? "agent " : "agents ") + std::to_string(first) +
           (last > first ? " to " + std::to_string(last) : "") +
           (more < agents ? " and others" : "") + (one ? " has" : " have") + " no policy";
}

uint32_t group_of(const Header& header, int64_t agent) {
    uint32_t group = 0;
    for (int64_t before = header.group[0].count; agent >= before;)
        before += header.group[++group].count;
    return group;
}

// "predator 0 to 15, prey 16 to 115"
std::string groups_text(const Header& header) {
    std::string text;
    int64_t first = 0;
    for (uint32_t group = 0; group < header.groups; ++group) {
        const int64_t last = first + header.group[group].count - 1;
        text += (group ? ", " : "") + std::string(header.group[group].name) + " " +
                std::to_string(first) + (last > first ? " to " + std::to_string(last) : "");
        first = last + 1;
    }
    return text;
}

}

std::vector<std::string> policy_defines(const AssignedPolicies& policies,
                                        const std::string& where) {
    if (policies.empty()) return {};
    std::string names, agents;
    for (size_t i = 0; i < policies.size(); ++i) {
        names += quoted_name(policies[i].name, key, where) + ",";
        for (const AgentRange& range : policies[i].agents)
            agents += "{" + std::to_string(i) + "," + std::to_string(range.first) + "," +
                      std::to_string(range.last) + "," + std::to_string(range.step) + "},";
    }
    return {"NACELLE_POLICIES=" + names, "NACELLE_ASSIGNED=" + agents};
}

void require_agents(const AssignedPolicies& policies, const EnvSchema& schema,
                    const std::string& where) {
    if (policies.empty()) return;
    const Header& header = schema.header();
    if (!header.is_team)
        throw Error(where, std::string(key) + ": " + schema.name() +
                               " has one agent, and so one policy, 'default'");
    const int64_t agents = header.agents;
    for (const AssignedPolicy& policy : policies) {
        const std::string path = std::string(key) + "." + policy.name + ": ";
        const AgentRange& range = *std::max_element(
            policy.agents.begin(), policy.agents.end(),
            [](const AgentRange& a, const AgentRange& b) { return a.last < b.last; });
        if (range.last >= agents)
            throw Error(where, path + schema.name() + " has no agent " + std::to_string(range.last),
                        "its agents are 0 to " + std::to_string(agents - 1));
        const uint32_t group = group_of(header, policy.agents.front().first);
        for (const AgentRange& its : policy.agents)
            for (int64_t agent = its.first; agent <= its.last; agent += its.step)
                if (const uint32_t other = group_of(header, agent); other != group)
                    throw Error(where,
                                path + "agent " + std::to_string(policy.agents.front().first) +
                                    " is of '" + header.group[group].name + "', agent " +
                                    std::to_string(agent) + " of '" + header.group[other].name +
                                    "', which sees and does something else",
                                "a policy for each of the two; agents here are " +
                                    groups_text(header));
    }
    if (const std::string missing = without_policy(policies, agents); !missing.empty())
        throw Error(where,
                    std::string(key) + ": of the " + std::to_string(agents) + " agents of " +
                        schema.name() + ", " + missing,
                    "give every agent one; \"train\": \"random\" makes a policy act at random");
}

}
