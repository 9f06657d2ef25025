#include "algorithms/policy_gradient/settings/policy_settings.h"

#include "algorithms/policy_gradient/plan/networks.h"
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/critic_settings.h"
#include "algorithms/policy_gradient/settings/hidden_layers.h"
#include "algorithms/policy_gradient/settings/opponents.h"
#include "algorithms/policy_gradient/settings/precision.h"
#include "algorithms/policy_gradient/settings/setting_words.h"

#include <cmath>
#include <limits>

namespace learn {
namespace {

using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

// One policy's own settings over those for all.
class PolicyReader final {
public:
    PolicyReader(const Algorithm& algorithm, const nacelle_environment& environment,
                 const Settings& settings, const JsonValue& policies)
        : algorithm_(algorithm), environment_(environment), settings_(settings) {
        if (policies.kind != JsonValue::Kind::object) wrong("policies", "expected an object");
        const SchemaView schema(environment);
        std::vector<std::string> known = {"default"};
        for (uint32_t i = 0; i < schema.header().policies; ++i)
            known.push_back(schema.header().policy[i].name);
        for (size_t i = 0; i < policies.keys.size(); ++i) {
            const std::string& key = policies.keys[i];
            if (std::find(known.begin(), known.end(), key) == known.end()) {
                std::sort(known.begin(), known.end());
                known.erase(std::unique(known.begin(), known.end()), known.end());
                wrong("policies." + key, std::string(environment.name) +
                                             " has no such policy (there is: " + listed(known) +
                                             ")");
            }
            objects_.emplace_back(key, policies.list[i]);
        }
    }

    PolicySettings read(const nacelle::Decider& decider, const Schedules& dials) const {
        PolicySettings policy;
        policy.name = decider.name;
        policy.group = decider.group;
        policy.agents = decider.agents;
        policy.hidden = {64, 64};
        policy.cells = {Cell::linear, Cell::linear};
        policy.activation = "tanh";
        policy.deviation = "free";
        policy.precision = "auto";
        policy.hidden_gain = std::sqrt(2.0);
        policy.choice_gain = 0.01;
        policy.value_gain = 1;
        std::copy(std::begin(dials), std::end(dials), std::begin(policy.dials));
        for (const auto& [key, value] : objects_)
            if (key == "default") apply(policy, value, "policies.default.");
        for (const auto& [key, value] : objects_)
            if (key == policy.name && key != "default")
                apply(policy, value, "policies." + key + ".");
        return policy;
    }

private:
    void apply(PolicySettings& policy, const JsonValue& value, const std::string& path) const {
        Config config(value, path);
        read_role(policy, config, path);
        if (policy.role == PolicySettings::Role::random && value.keys.size() > 1)
            wrong(path + (value.keys[0] == "train" ? value.keys[1] : value.keys[0]),
                  "a policy that acts at random has nothing to set but \"train\"");
        if (const JsonValue* const opponents = config.find("opponents"))
            read_opponents(policy.past, *opponents, path + "opponents");
        read_network(policy, config, path);
        read_head(policy, config, path);
        read_critic(policy, config, path);
        if (const JsonValue* const own = config.find("learner")) {
            Config learner(*own, path + "learner.");
            read_dials(learner, path + "learner.", algorithm_, settings_.traced, policy.dials);
            learner.finish();
        }
        config.finish();
    }
    static void read_role(PolicySettings& policy, Config& config, const std::string& path) {
        const JsonValue* const train = config.find("train");
        if (!train) return;
        if (train->kind == JsonValue::Kind::flag)
            policy.role =
                train->number != 0 ? PolicySettings::Role::trained : PolicySettings::Role::fixed;
        else if (train->kind == JsonValue::Kind::text && train->text == "random")
            policy.role = PolicySettings::Role::random;
        else wrong(path + "train", "expected true, false or \"random\"");
    }
    void read_own_network(PolicySettings& policy, Config& config, const std::string& path) const {
        const JsonValue* const model = config.find("model");
        if (!model) return;
        if (!algorithm_.external)
            wrong(path + "model",
                  "'" + std::string(algorithm_.name) +
                      "' has layers alone; 'torch_ppo' and 'torch_a2c' take models");
        if (model->kind != JsonValue::Kind::object)
            wrong(path + "model",
                  "expected {\"name\": ...}, {\"script\": ...} or {\"package\": ...}");
        policy.own.text = text_of(*model);
    }
    void read_network(PolicySettings& policy, Config& config, const std::string& path) const {
        read_own_network(policy, config, path);
        if (const JsonValue* const hidden = config.find("hidden")) {
            if (config.has("model"))
                wrong(path + "hidden", "the policy has a \"model\" and no layers beside it");
            read_hidden(policy, *hidden, path + "hidden");
            policy.own = {};
        }
        if (policy.own.there())
            for (const char* const key :
                 {"activation", "trunk", "gains", "deviation", "initial_deviation"})
                if (config.has(key))
                    wrong(
                        path + key,
                        "is of layers, and the policy has a \"model\"; this would change nothing");
        policy.activation =
            one_of(config, path, "activation", policy.activation, {"tanh", "relu", "gelu", "silu"});
        policy.shared = one_of(config, path, "trunk", policy.shared ? "shared" : "separate",
                               {"shared", "separate"}) == "shared";
        policy.precision =
            one_of(config, path, "precision", policy.precision, {"auto", "f32", "bf16"});
        policy.execution = one_of(config, path, "execution", policy.execution,
                                  {"auto", "fused", "row_pass", "streamed"});
        // What runs of version 0.1 say in its place.
        if (config.flag("staged", false)) policy.execution = "streamed";
        Config gains = config.object("gains");
        policy.hidden_gain = gains.number("hidden", policy.hidden_gain, 0, 1e3);
        policy.choice_gain = gains.number("choice", policy.choice_gain, 0, 1e3);
        policy.value_gain = gains.number("value", policy.value_gain, 0, 1e3);
        gains.finish();
    }
    void read_critic(PolicySettings& policy, Config& config, const std::string& path) const {
        const JsonValue* const its = config.find("critic");
        if (its) policy.critic = learn::read_critic(*its, path + "critic", environment_);
        if (!policy.critic.there) return;
        if (policy.own.there())
            wrong(path + "critic", "the policy has a \"model\", which gives values itself");
        if (config.has("trunk") && policy.shared)
            wrong(path + "trunk",
                  "\"shared\" has values see what the policy sees; with a \"critic\" "
                  "it is \"separate\"");
        policy.shared = false;
    }
    void read_head(PolicySettings& policy, Config& config, const std::string& path) const {
        const SchemaView schema(environment_);
        bool anywhere = false;
        for (uint32_t g = 0; g < schema.header().groups; ++g)
            anywhere = anywhere || schema.has_continuous(g);
        if (!schema.has_continuous(policy.group)) {
            // What is set for all policies is for those that have such actions.
            const bool for_all = anywhere && path == "policies.default.";
            for (const char* const key :
                 {"deviation", "initial_deviation", "noise_steps", "squash"})
                if (config.has(key) && !for_all)
                    wrong(path + key,
                          (anywhere ? "'" + policy.name + "'" : std::string(environment_.name)) +
                              " has no continuous actions; this would change nothing");
            return;
        }
        policy.deviation = one_of(config, path, "deviation", policy.deviation, {"free", "state"});
        policy.initial_deviation =
            config.number("initial_deviation", policy.initial_deviation, 1e-4, 7);
        policy.noise_steps = config.integer("noise_steps", policy.noise_steps, 1, 1 << 20);
        policy.squashed = config.flag("squash", policy.squashed);
    }

    const Algorithm& algorithm_;
    const nacelle_environment& environment_;
    const Settings& settings_;
    std::vector<std::pair<std::string, JsonValue>> objects_;
};

// Kernels number parameters by an int.
void check_parameters(const PolicySettings& policy, const nacelle_environment& environment) {
    if (policy.role == PolicySettings::Role::random) return;
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    const int64_t parameters = NetworkShape(policy, environment).parameters();
    if (parameters > most)
        wrong("policies." + policy.name + ".hidden",
              "its networks have at most " + std::to_string(most) + " parameters, not " +
                  std::to_string(parameters));
}

void check_external(PolicySettings& policy, bool on_gpu) {
    if (policy.role == PolicySettings::Role::random) return;
    const std::string path = "policies." + policy.name + ".";
    if (policy.precision == "bf16" && !on_gpu)
        wrong(path + "precision", "a CPU computes in f32; bf16 needs a GPU");
    if (policy.precision == "bf16" && policy.remembers())
        wrong(path + "precision", "what is remembered goes through many steps, which this learner "
                                  "computes in f32; 'ppo' and 'a2c' have bf16 for it");
    if (policy.precision == "bf16" && policy.own.there())
        wrong(path + "precision",
              "a \"model\" computes with the numbers that it was made with, f32");
    if (policy.execution != "auto") wrong(path + "execution", of_kernels);
    if (policy.precision == "auto")
        policy.precision = on_gpu && !policy.remembers() && !policy.own.there() ? "bf16" : "f32";
}

const char* role_text(PolicySettings::Role role) {
    return role == PolicySettings::Role::trained ? "true"
           : role == PolicySettings::Role::fixed ? "false"
                                                 : "\"random\"";
}

}

std::vector<PolicySettings> read_policies(const Algorithm& algorithm,
                                          const nacelle_environment& environment,
                                          const Settings& settings, const JsonValue& policies,
                                          const Schedules& dials, const DescribeOwn& describe) {
    const SchemaView schema(environment);
    const PolicyReader reader(algorithm, environment, settings, policies);
    std::vector<PolicySettings> read;
    for (uint32_t i = 0; i < schema.header().policies; ++i)
        read.push_back(reader.read(schema.header().policy[i], dials));
    if (std::none_of(read.begin(), read.end(), [](const auto& policy) {
            return policy.role == PolicySettings::Role::trained;
        }))
        wrong("policies", "no policy is to be trained; one needs \"train\": true");
    match_opponents(read, environment, settings);
    add_critics(read);
    for (PolicySettings& policy : read) {
        if (policy.own.there() && policy.role != PolicySettings::Role::random)
            describe(policy, environment);
        check_parameters(policy, environment);
        if (policy.is_critic() && settings.external)
            policy.precision = read[size_t(policy.critic_of)].precision;
        if (settings.external) check_external(policy, environment.on_gpu);
        else choose_precision(policy, environment, settings.emulates);
    }
    return read;
}

void write_policy(JsonText& json, const PolicySettings& policy, const Algorithm& algorithm,
                  const Settings& settings, const Schedules& common, bool real) {
    json.begin(policy.name).raw("train", role_text(policy.role));
    if (policy.role == PolicySettings::Role::random) {
        json.end();
        return;
    }
    write_opponents(json, policy.past);
    const bool layers = !policy.own.there();
    if (!layers) json.raw("model", policy.own.text);
    else {
        json.raw("hidden", hidden_text(policy));
        json.text("activation", policy.activation);
        json.text("trunk", policy.shared ? "shared" : "separate");
        if (policy.critic.there) json.raw("critic", critic_text(policy.critic));
    }
    json.text("precision", policy.precision);
    if (policy.on_tensor_cores()) json.text("execution", policy.execution);
    if (layers)
        json.begin("gains")
            .number("hidden", policy.hidden_gain)
            .number("choice", policy.choice_gain)
            .number("value", policy.value_gain)
            .end();
    if (real) {
        if (layers) {
            json.text("deviation", policy.deviation);
            json.number("initial_deviation", policy.initial_deviation);
        }
        json.number("noise_steps", double(policy.noise_steps));
        json.raw("squash", policy.squashed ? "true" : "false");
    }
    if (!std::equal(std::begin(common), std::end(common), std::begin(policy.dials),
                    [](const Schedule& a, const Schedule& b) {
                        return a.form == b.form && a.from == b.from && a.to == b.to;
                    })) {
        json.begin("learner");
        write_dials(json, algorithm, settings.traced, policy.dials);
        json.end();
    }
    json.end();
}

}
