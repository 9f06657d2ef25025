#include "algorithms/policy_gradient/settings/opponents.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/setting_words.h"

namespace learn {

using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

void read_opponents(PastSettings& past, const JsonValue& value, const std::string& path) {
    if (value.kind == JsonValue::Kind::flag && value.number == 0) {
        past = {};
        return;
    }
    if (value.kind != JsonValue::Kind::object)
        wrong(path, "expected {\"pool\": 32, \"every\": 20, \"sample\": \"hard\"} or false");
    Config config(value, path + ".");
    past.members = config.integer("pool", past.members ? past.members : 32, 2, 4096);
    past.every = config.integer("every", past.every, 1, 1 << 30);
    past.sample = one_of(config, path + ".", "sample", past.sample, {"latest", "uniform", "hard"});
    config.finish();
}

void match_opponents(std::vector<PolicySettings>& policies, const nacelle_environment& environment,
                     const Settings& settings) {
    const auto any = std::find_if(policies.begin(), policies.end(),
                                  [](const auto& policy) { return policy.past.members > 0; });
    if (any == policies.end()) return;
    const nacelle::Header& header = SchemaView(environment).header();
    const std::string path = "policies." + any->name + ".opponents", name = environment.name;
    constexpr const char* instead =
        " (a pool is for two agents of one policy, or for two policies)";
    if (settings.external)
        wrong(path, "learners on LibTorch have no pool of past policies so far; 'ppo' and 'a2c' "
                    "have one, and \"opponents\": false does without");
    if (header.agents == 1)
        wrong(path, name + " is for one agent, who has nobody to play against" + instead);
    if (policies.size() == 1 && policies[0].agents != 2)
        wrong(path, name + " has " + std::to_string(header.agents) +
                        " agents of one policy, and does not say who plays against whom" + instead);
    if (policies.size() > 2)
        wrong(path, name + " has " + std::to_string(policies.size()) + " policies" + instead);
    for (const PolicySettings& policy : policies) {
        const std::string its = "policies." + policy.name;
        if (policy.role != PolicySettings::Role::trained)
            wrong(path, "'" + policy.name +
                            "' is not trained, and has no past to play against "
                            "(\"opponents\": false for both does without a pool)");
        if (policy.past.members == 0)
            wrong(its + ".opponents", "'" + any->name +
                                          "' has a pool and needs one to play "
                                          "against; give one to all in policies.default");
    }
    const bool roles = policies.size() == 2;
    if (environment.envs < (roles ? 2 * opponents_together : 2))
        wrong(path, "the two of " + name +
                        " learn in different environments; expected an "
                        "env.count of " +
                        std::to_string(roles ? 2 * opponents_together : 2) + " or more");
    // Who learns where and meets whom goes by an environment's number; so it does in the whole run where shards are of whole
    // groups of those that share an opponent.
    const uint32_t unit = (roles ? 2 : 1) * opponents_together;
    if ((settings.ranks > 1 || settings.shards > 1) && environment.envs / settings.shards % unit)
        wrong(path, std::to_string(environment.envs / settings.shards) +
                        " environments of a shard; with a pool expected a multiple of " +
                        std::to_string(unit) + " in several ranks or shards");
    for (PolicySettings& policy : policies)
        policy.past.form = roles ? Against::roles : Against::sides;
}

void write_opponents(JsonText& json, const PastSettings& past) {
    if (past.members == 0) return;
    json.begin("opponents")
        .number("pool", double(past.members))
        .number("every", double(past.every))
        .text("sample", past.sample)
        .end();
}

}
