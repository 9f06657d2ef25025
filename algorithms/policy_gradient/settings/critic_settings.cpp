#include "algorithms/policy_gradient/settings/critic_settings.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/hidden_layers.h"
#include "algorithms/policy_gradient/settings/json_text.h"
#include "algorithms/policy_gradient/settings/setting_words.h"

namespace learn {
namespace {

using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

// Numbers of an environment's overview, 0 where it has none.
uint32_t overview_of(const nacelle_environment& environment) {
    const SchemaView schema(environment);
    for (uint32_t i = 0; i < schema.header().fields; ++i)
        if (schema.field(i).role == nacelle::Role::global) return schema.field(i).count;
    return 0;
}

void read_sees(CriticSettings& critic, const JsonValue* list, const std::string& where,
               const nacelle_environment& environment) {
    if (!list || list->kind != JsonValue::Kind::list || list->list.empty())
        wrong(where, "expected a list of what values are found by: \"global\", \"team\", \"own\"");
    for (const JsonValue& word : list->list) {
        bool* const its = word.text == "global" ? &critic.global
                          : word.text == "team" ? &critic.team
                          : word.text == "own"  ? &critic.own
                                                : nullptr;
        if (word.kind != JsonValue::Kind::text || !its)
            wrong(where, "there is no '" + text_of(word) + "' (there is: global, team, own)");
        if (*its) wrong(where, "\"" + word.text + "\" stands there twice");
        *its = true;
    }
    if (!critic.global && !critic.team)
        wrong(where,
              "\"own\" is what the policy sees itself; without \"global\" or \"team\" there is "
              "\"trunk\": \"separate\"");
    critic.numbers = critic.global ? overview_of(environment) : 0;
    if (critic.global && critic.numbers == 0)
        wrong(where,
              std::string(environment.name) +
                  " has no struct Global with overview(), so there is no \"global\" to be seen");
}

}

CriticSettings read_critic(const JsonValue& value, const std::string& path,
                           const nacelle_environment& environment) {
    if (value.kind == JsonValue::Kind::flag && value.number == 0) return {};
    if (value.kind != JsonValue::Kind::object)
        wrong(path,
              "expected false or an object such as {\"sees\": [\"global\", \"own\"], \"hidden\": "
              "[64, 64]}");
    Config config(value, path + ".");
    CriticSettings critic;
    critic.there = true;
    read_sees(critic, config.find("sees"), path + ".sees", environment);
    PolicySettings layers;
    layers.hidden = {64, 64};
    if (const JsonValue* const hidden = config.find("hidden")) {
        read_hidden(layers, *hidden, path + ".hidden");
        if (layers.remembers() || !layers.convolutions.empty())
            wrong(path + ".hidden",
                  "a critic that sees more has plain layers alone, each a number of "
                  "neurons; the policy's may remember");
    }
    critic.hidden = layers.hidden;
    critic.execution =
        one_of(config, path + ".", "execution", "auto", {"auto", "fused", "row_pass", "streamed"});
    config.finish();
    return critic;
}

std::string critic_text(const CriticSettings& critic) {
    std::string sees;
    const auto add = [&](bool there, const char* word) {
        if (there) sees += std::string(sees.empty() ? "\"" : ", \"") + word + "\"";
    };
    add(critic.global, "global");
    add(critic.team, "team");
    add(critic.own, "own");
    JsonText text;
    text.raw("sees", "[" + sees + "]")
        .list("hidden", std::vector<double>(critic.hidden.begin(), critic.hidden.end()));
    if (critic.execution != "auto") text.text("execution", critic.execution);
    return text.done();
}

void add_critics(std::vector<PolicySettings>& policies) {
    for (size_t p = 0, acting = policies.size(); p < acting; ++p) {
        if (!policies[p].critic.there || policies[p].role != PolicySettings::Role::trained)
            continue;
        if (policies[p].past.form != Against::none)
            wrong("policies." + policies[p].name + ".critic",
                  "a policy that plays its past has no critic that sees more so far; "
                  "\"opponents\": false or \"critic\": false");
        if (policies.size() == size_t(most_policies))
            wrong("policies." + policies[p].name + ".critic",
                  "there may be " + std::to_string(most_policies) +
                      " networks of policies and critics together");
        PolicySettings its = policies[p];
        its.name += ".critic";
        its.critic_of = int(p);
        its.hidden = its.critic.hidden;
        its.cells.assign(its.hidden.size(), Cell::linear);
        its.convolutions.clear();
        its.codes = 0;
        its.shared = true;    // all of it is for the value
        its.deviation = "state";
        its.squashed = false;
        its.noise_steps = 1;
        its.execution = its.critic.execution;
        policies.push_back(its);
    }
}

}
