#include "algorithms/common/settings.h"

#include "algorithms/common/hidden_layers.h"
#include "algorithms/common/networks.h"
#include "algorithms/common/precision.h"
#include "algorithms/common/schedules.h"
#include "algorithms/common/schema_view.h"
#include "algorithms/common/setting_words.h"

#include <cmath>
#include <limits>

namespace learn {
namespace {

namespace plugin = nacelle::plugin;
using plugin::Config;
using plugin::JsonValue;

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
        read_network(policy, config, path);
        read_head(policy, config, path);
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

// Networks that are computed elsewhere are computed in one way.
constexpr const char* of_kernels =
    "is a choice between kernels of 'ppo' and 'a2c'; this learner has one way";

void check_external(PolicySettings& policy, bool on_gpu) {
    if (policy.role == PolicySettings::Role::random) return;
    const std::string path = "policies." + policy.name + ".";
    if (policy.precision == "bf16" && !on_gpu)
        wrong(path + "precision", "a CPU computes in f32; bf16 needs a GPU");
    if (policy.precision == "bf16" && policy.remembers())
        wrong(path + "precision", "what is remembered goes through many steps, which this learner "
                                  "computes in f32; 'ppo' and 'a2c' have bf16 for it");
    if (policy.execution != "auto") wrong(path + "execution", of_kernels);
    if (policy.precision == "auto")
        policy.precision = on_gpu && !policy.remembers() ? "bf16" : "f32";
}

const char* role_text(PolicySettings::Role role) {
    return role == PolicySettings::Role::trained ? "true"
           : role == PolicySettings::Role::fixed ? "false"
                                                 : "\"random\"";
}

void write_policy(JsonText& json, const PolicySettings& policy, const Algorithm& algorithm,
                  const Settings& settings, const Schedules& common, bool real) {
    json.begin(policy.name).raw("train", role_text(policy.role));
    if (policy.role == PolicySettings::Role::random) {
        json.end();
        return;
    }
    if (policy.own.there()) json.raw("model", policy.own.text);
    else {
        json.raw("hidden", hidden_text(policy));
        json.text("activation", policy.activation);
        json.text("trunk", policy.shared ? "shared" : "separate");
    }
    json.text("precision", policy.precision);
    if (policy.on_tensor_cores()) json.text("execution", policy.execution);
    json.begin("gains")
        .number("hidden", policy.hidden_gain)
        .number("choice", policy.choice_gain)
        .number("value", policy.value_gain)
        .end();
    if (real) {
        json.text("deviation", policy.deviation);
        json.number("initial_deviation", policy.initial_deviation);
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

// Parts of the environments that each have their part in every minibatch: one for each rank, and as many on another number of
// ranks where a run goes on.
uint32_t own_shards(Config& config, const nacelle_environment& environment, uint32_t ranks) {
    const auto shards = uint32_t(config.integer("shards", ranks, 1, 1 << 16));
    if (shards % ranks)
        wrong("shards", "there are " + std::to_string(ranks) + " ranks, and " +
                            std::to_string(shards) + " shards cannot be dealt out to them evenly");
    const uint32_t own = shards / ranks;
    if (environment.envs % own)
        wrong("shards", std::to_string(environment.envs) +
                            " environments of a rank cannot be dealt out to " +
                            std::to_string(own) + " shards evenly");
    return own;
}

Settings read_settings(const Algorithm& algorithm, std::string_view text,
                       const nacelle_environment& environment, const nacelle_ranks& ranks,
                       const DescribeOwn& describe) {
    Config config(text);
    const SchemaView schema(environment);
    for (uint32_t g = 0; g < schema.header().groups; ++g)
        if (schema.seen(g) == 0)
            throw std::runtime_error(std::string(environment.name) +
                                     ": a network needs something to see; Obs is empty");
    Settings settings;
    config.text("name", algorithm.name);
    settings.horizon = uint32_t(config.integer("horizon", algorithm.horizon, 1, 1 << 20));
    settings.clips = algorithm.clips;
    settings.external = algorithm.external;
    for (const char* const key : {"emulate", "rollout"})
        if (settings.external && config.has(key)) wrong(key, of_kernels);
    settings.emulates = !settings.external && config.flag("emulate", false);
    if (settings.emulates && environment.on_gpu)
        wrong("emulate", "stands in for a GPU on a CPU; here is a GPU");
    settings.epochs = 1;
    if (algorithm.clips)
        settings.epochs = uint32_t(config.integer("epochs", algorithm.epochs, 1, 1000));
    settings.minibatches = uint32_t(config.integer("minibatches", algorithm.minibatches, 1, 4096));
    settings.ranks = ranks.ranks;
    settings.shards = own_shards(config, environment, ranks.ranks);
    const bool sets_sequence = config.has("sequence");
    settings.sequence = uint32_t(config.integer("sequence", settings.horizon, 1, settings.horizon));
    if (settings.horizon % settings.sequence)
        wrong("sequence", "expected steps that the horizon of " + std::to_string(settings.horizon) +
                              " is a multiple of");
    settings.stepwise = settings.external ||
                        one_of(config, "", "rollout", "auto", {"auto", "stepwise"}) == "stepwise";
    settings.traced = one_of(config, "", "advantage", "gae", {"gae", "vtrace"}) == "vtrace";
    settings.normalises_observations = config.flag("normalise_observations", true);
    settings.scales_rewards = config.flag("normalise_returns", true);
    if (!settings.scales_rewards)
        settings.reward_factor = config.number("reward_scale", 1, -1e9, 1e9);
    settings.reward_bound = config.number("reward_bound", settings.scales_rewards ? 10 : 0, 0, 1e9);
    const std::string scaled =
        one_of(config, "", "normalise_advantages", "batch", {"none", "batch", "minibatch"});
    settings.scales_advantages = scaled == "none" ? 0 : scaled == "batch" ? 1 : 2;
    Schedules dials = {};
    default_dials(algorithm, dials);
    read_dials(config, "", algorithm, settings.traced, dials);
    JsonValue nothing;
    nothing.kind = JsonValue::Kind::object;
    const JsonValue* const policies = config.find("policies");
    const PolicyReader reader(algorithm, environment, settings, policies ? *policies : nothing);
    for (uint32_t i = 0; i < schema.header().policies; ++i)
        settings.policies.push_back(reader.read(schema.header().policy[i], dials));
    if (std::none_of(settings.policies.begin(), settings.policies.end(), [](const auto& policy) {
            return policy.role == PolicySettings::Role::trained;
        }))
        wrong("policies", "no policy is to be trained; one needs \"train\": true");
    for (PolicySettings& policy : settings.policies) {
        if (policy.own.there() && policy.role != PolicySettings::Role::random)
            describe(policy, environment);
        check_parameters(policy, environment);
        if (settings.external) check_external(policy, environment.on_gpu);
        else choose_precision(policy, environment, settings.emulates);
    }
    config.finish();
    const bool any_remembers =
        std::any_of(settings.policies.begin(), settings.policies.end(),
                    [](const PolicySettings& policy) { return policy.remembers(); });
    if (sets_sequence && !any_remembers)
        wrong("sequence", "no policy has a layer that remembers; this would change nothing");

    const uint64_t samples = uint64_t(settings.horizon) * environment.envs;
    for (const PolicySettings& policy : settings.policies) {
        const uint64_t each = samples / settings.shards * policy.agents /
                              (policy.remembers() ? settings.sequence : 1);
        if (settings.shards > 1 && each % settings.minibatches)
            wrong("shards", std::to_string(each) +
                                (policy.remembers() ? " sequences" : " samples") + " of policy '" +
                                policy.name + "' in a shard cannot be dealt out to " +
                                std::to_string(settings.minibatches) + " minibatches evenly");
    }
    for (const PolicySettings& policy : settings.policies) {
        const uint64_t sequences = samples / settings.sequence * policy.agents;
        if (policy.remembers() && sequences < settings.minibatches)
            wrong("minibatches", std::to_string(sequences) + " sequences of policy '" +
                                     policy.name + "' an iteration; expected " +
                                     std::to_string(settings.minibatches) +
                                     " or more, one for each minibatch (more environments, or a "
                                     "smaller \"sequence\")");
        if (samples * policy.agents < settings.minibatches || samples * policy.agents >> 31)
            wrong("minibatches", std::to_string(samples * policy.agents) + " samples of policy '" +
                                     policy.name + "' an iteration; expected " +
                                     std::to_string(settings.minibatches) +
                                     " (one for each minibatch) to 2147483647");
    }

    JsonText json;
    if (settings.emulates) json.raw("emulate", "true");
    json.text("name", algorithm.name).number("horizon", settings.horizon);
    if (algorithm.clips) json.number("epochs", settings.epochs);
    json.number("minibatches", settings.minibatches);
    const uint32_t shards = settings.shards * settings.ranks;
    if (shards > 1) json.number("shards", shards);
    if (any_remembers) json.number("sequence", settings.sequence);
    if (!settings.external) json.text("rollout", settings.stepwise ? "stepwise" : "auto");
    json.text("advantage", settings.traced ? "vtrace" : "gae");
    json.raw("normalise_observations", settings.normalises_observations ? "true" : "false");
    json.raw("normalise_returns", settings.scales_rewards ? "true" : "false");
    if (!settings.scales_rewards) json.number("reward_scale", settings.reward_factor);
    json.number("reward_bound", settings.reward_bound).text("normalise_advantages", scaled);
    write_dials(json, algorithm, settings.traced, dials);
    json.begin("policies");
    for (const PolicySettings& policy : settings.policies)
        write_policy(json, policy, algorithm, settings, dials, schema.has_continuous(policy.group));
    json.end();
    settings.resolved = json.done();
    return settings;
}

}
