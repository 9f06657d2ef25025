#include "engine/match/player.h"

#include "engine/base/error.h"
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
// What an environment shows to the agents of a group, and has them do.
Json spaces_of(const EnvSchema& schema, uint32_t group) {
    Json seen = Json::array(), done = Json::array();
    for (const auto& [field, count] : observed_arrays(schema, group))
        seen.push_back(array_entry(field->name, count));
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
        const std::string difference =
            difference_in_spaces(policy, spaces_of(player.policies.back()->description()),
                                 spaces_of(env.schema(), header.policy[p].group));
        if (!difference.empty()) throw Error(checkpoint.where, difference);
    }
    return player;
}

}
