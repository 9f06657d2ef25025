#include "engine/env/policy_settings.h"

#include "engine/compile/layout_defines.h"
#include "engine/config/describe.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace nacelle {
namespace {

constexpr const char* form =
    "a policy has the number of an agent, \"FIRST-LAST\", or a list of these";

std::optional<int64_t> agent_in(std::string_view text) {
    int64_t agent = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), agent);
    if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return agent;
}

// "3-7" or "3".
std::optional<AgentRange> range_in(const std::string& text) {
    const size_t dash = text.find('-');
    const auto first = agent_in(std::string_view(text).substr(0, dash));
    const auto last = dash == text.npos ? first : agent_in(std::string_view(text).substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return AgentRange{*first, *last, 1};
}

void add_agents(std::set<int64_t>& agents, const Json& value, const Config& policies,
                const std::string& name) {
    std::optional<AgentRange> range;
    if (value.is_number_integer()) range = AgentRange{value, value, 1};
    if (value.is_string()) range = range_in(value);
    if (!range) policies.fail(name, "expected agents, found " + describe(value), form);
    if (range->first > range->last)
        policies.fail(name, "the agents " + describe(value) + " end before they begin");
    if (range->first < 0 || range->last >= agents_at_most)
        policies.fail(name, "expected agents from 0 to " + std::to_string(agents_at_most - 1) +
                                ", found " + describe(value));
    for (int64_t agent = range->first; agent <= range->last; ++agent)
        if (!agents.insert(agent).second)
            policies.fail(name, "has agent " + std::to_string(agent) + " twice");
}

std::set<int64_t> agents_of(Config& policies, const std::string& name) {
    const Json value = policies.any(name);
    std::set<int64_t> agents;
    if (value.is_array())
        for (const Json& one : value) add_agents(agents, one, policies, name);
    else add_agents(agents, value, policies, name);
    if (agents.empty())
        policies.fail(name, "has no agents", "give it one, or leave the policy out");
    return agents;
}

// As few ranges as follow from going on with the distance to the next agent.
std::vector<AgentRange> ranges_of(const std::set<int64_t>& agents) {
    std::vector<AgentRange> ranges;
    for (const int64_t agent : agents) {
        AgentRange* const last = ranges.empty() ? nullptr : &ranges.back();
        if (last && last->first == last->last) last->step = agent - last->first;
        if (last && agent - last->last == last->step) last->last = agent;
        else ranges.push_back({agent, agent, 1});
    }
    for (AgentRange& range : ranges)
        if (range.first == range.last) range.step = 1;
    return ranges;
}

}

AssignedPolicies read_policies(Config policies) {
    AssignedPolicies all;
    std::map<int64_t, std::string> whose;
    for (const std::string& name : policies.keys()) {
        if (!is_name(name) || name.size() >= sizeof Decider::name)
            policies.fail(name, "is no name of a policy",
                          "a name has letters, digits and '_', 63 at most");
        if (name == "default")
            policies.fail(name, "stands for all policies under \"policies\"",
                          "give it another name");
        const std::set<int64_t> agents = agents_of(policies, name);
        for (const int64_t agent : agents)
            if (const auto [other, fresh] = whose.emplace(agent, name); !fresh)
                policies.fail(name, "agent " + std::to_string(agent) + " is in '" + other->second +
                                        "' already");
        all.push_back({name, ranges_of(agents)});
    }
    if (all.size() > size_t(most_policies))
        policies.fail(all.back().name, "there are " + std::to_string(all.size()) +
                                           " policies; expected " + std::to_string(most_policies) +
                                           " at most");
    std::sort(all.begin(), all.end(), [](const AssignedPolicy& a, const AssignedPolicy& b) {
        return a.agents.front().first < b.agents.front().first;
    });
    return all;
}

Json policies_json(const AssignedPolicies& policies) {
    Json all = Json::object();
    for (const AssignedPolicy& policy : policies) {
        Json& agents = all[policy.name] = Json::array();
        for (const AgentRange& range : policy.agents)
            if (range.step == 1 && range.last > range.first)
                agents.push_back(std::to_string(range.first) + "-" + std::to_string(range.last));
            else
                for (int64_t agent = range.first; agent <= range.last; agent += range.step)
                    agents.push_back(agent);
    }
    return all;
}

}
