#include "engine/match/player.h"

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/env/observed_numbers.h"
#include "engine/policy/open_policy.h"
#include "engine/run/policy_difference.h"

namespace nacelle {
namespace {

Json array_entry(const std::string& name, size_t count) {
    return {{"name", name}, {"count", count}};
}
Json part_entry(const std::string& name, const ActionRange& range) {
    if (range.choices) return {{"name", name}, {"choices", range.choices}};
    return {{"name", name}, {"low", range.low}, {"high", range.high}};
}

// What a trained policy sees and does.
Json spaces_of(const PolicyDescription& description) {
    Json seen = Json::array(), done = Json::array();
    for (const PolicyDescription::Array& array : description.observation)
        seen.push_back(array_entry(array.name, array.count));
    for (const PolicyPart& part : description.actions)
        done.push_back(part_entry(part.name, part.range));
    return {{"observation", seen}, {"actions", done}};
}
// Of what an environment shows to the agents of a group what a policy asks for, in its order, and what they do. A policy
// may see a part alone, as one of random_search, which has no images.
Json spaces_of(const EnvSchema& schema, uint32_t group, const PolicyDescription& policy) {
    Json seen = Json::array(), done = Json::array();
    for (const PolicyDescription::Array& asked : policy.observation)
        for (const Field* field : observed_arrays(schema, group))
            if (field->name == asked.name) seen.push_back(array_entry(field->name, field->count));
    for (const Field& field : schema.fields()) {
        if (field.role != Role::action || field.group != group) continue;
        const bool discrete = field.kind == Kind::discrete;
        const ActionRange range{.choices = discrete ? uint32_t(field.choices) : 0,
                                .low = discrete ? 0 : field.low,
                                .high = discrete ? 0 : field.high};
        for (uint32_t i = 0; i < field.count; ++i) done.push_back(part_entry(field.name, range));
    }
    return {{"observation", seen}, {"actions", done}};
}

// Throws where a policy sees or does something else than the environment's of its name.
void require_same_spaces(const TrainedPolicy& policy, const Environment& env, uint32_t number,
                         const std::string& where) {
    const Decider& its = env.schema().header().policy[number];
    const std::string difference =
        difference_in_spaces(its.name, spaces_of(policy.description()),
                             spaces_of(env.schema(), its.group, policy.description()));
    if (!difference.empty()) throw Error(where, difference);
}

// "there is: blue, red"
std::string names_of_policies(const Header& header) {
    std::string names = "there is: ";
    for (uint32_t p = 0; p < header.policies; ++p)
        names += (p ? ", " : "") + std::string(header.policy[p].name);
    return names;
}

bool acts_at_random(const Json& policies, const std::string& name) {
    const auto found = policies.find(name);
    return found != policies.end() && found->is_object() && found->contains("random") &&
           (*found)["random"] == true;
}

}

Player random_player(const Environment& env) {
    Player player{.name = "random", .policies = {}};
    player.policies.resize(env.schema().header().policies);
    return player;
}

Player player_of(const Checkpoint& checkpoint, const Environment& env, const std::string& name) {
    if (checkpoint.record.environment != env.name())
        throw Error(checkpoint.where, "is a checkpoint of " + checkpoint.record.environment +
                                          "; this match is in " + env.name());
    const Json& policies = policies_in(checkpoint);
    const Header& header = env.schema().header();
    Player player{.name = name, .policies = {}};
    for (uint32_t p = 0; p < header.policies; ++p) {
        const std::string policy = header.policy[p].name;
        if (acts_at_random(policies, policy)) {
            player.policies.push_back(nullptr);
            continue;
        }
        player.policies.push_back(open_policy(checkpoint, policy).policy);
        require_same_spaces(*player.policies.back(), env, p, checkpoint.where);
    }
    return player;
}

Player player_of(const std::vector<NamedPolicy>& policies, const Environment& env) {
    const Header& header = env.schema().header();
    Player player{.name = {}, .policies = {}};
    player.policies.resize(header.policies);
    for (const NamedPolicy& one : policies) {
        if (one.opened.environment != env.name())
            throw Error(one.where, "is a policy of " + printable(one.opened.environment) +
                                       "; this environment is " + env.name());
        const std::string& name = one.opened.policy->description().name;
        uint32_t p = 0;
        while (p < header.policies && name != header.policy[p].name) ++p;
        if (p == header.policies)
            throw Error(one.where,
                        "is the policy '" + printable(name) + "', which " + env.name() +
                            " does not have",
                        names_of_policies(header));
        if (player.policies[p])
            throw Error(one.where, "is a second policy '" + printable(name) + "'");
        require_same_spaces(*one.opened.policy, env, p, one.where);
        player.policies[p] = one.opened.policy;
    }
    for (uint32_t p = 0; p < header.policies; ++p)
        if (!player.policies[p])
            throw Error(env.name(),
                        "has a policy '" + std::string(header.policy[p].name) +
                            "' of which no file was named",
                        "a --policy FILE for each");
    return player;
}

}
