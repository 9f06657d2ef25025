#include "algorithms/policy_gradient/settings/settings.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/kept_observations.h"
#include "algorithms/policy_gradient/settings/policy_settings.h"

namespace learn {
namespace {

using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

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
    settings.peers = ranks.ranks > 1 && ranks.peers && ranks.ranks <= most_peers &&
                     (environment.on_gpu || settings.emulates) && !settings.external;
    settings.shards = own_shards(config, environment, ranks.ranks);
    const bool sets_order = config.has("ordered_sums");
    settings.gathers = config.flag("ordered_sums", !environment.on_gpu);
    const bool sets_sequence = config.has("sequence");
    settings.sequence = uint32_t(config.integer("sequence", settings.horizon, 1, settings.horizon));
    if (settings.horizon % settings.sequence)
        wrong("sequence", "expected steps that the horizon of " + std::to_string(settings.horizon) +
                              " is a multiple of");
    settings.stepwise = settings.external ||
                        one_of(config, "", "rollout", "auto", {"auto", "stepwise"}) == "stepwise";
    settings.traced = one_of(config, "", "advantage", "gae", {"gae", "vtrace"}) == "vtrace";
    settings.normalises_observations = config.flag("normalise_observations", true);
    const std::string kept =
        one_of(config, "", "kept_observations", "auto", {"auto", "f32", "bf16"});
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
    settings.policies = read_policies(algorithm, environment, settings,
                                      policies ? *policies : nothing, dials, describe);
    config.finish();
    settings.keeps_pairs = keeps_in_bf16(kept, settings, environment);
    for (const PolicySettings& policy : settings.policies)
        if (policy.is_critic())
            settings.overview = std::max(settings.overview, policy.critic.numbers);
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
    for (uint32_t p = 0; p < settings.policies.size(); ++p) {
        const PolicySettings& policy = settings.policies[p];
        const uint64_t own = settings.horizon * policy.learning(p, environment.envs),
                       sequences = own / settings.sequence;
        if (policy.remembers() && sequences < settings.minibatches)
            wrong("minibatches", std::to_string(sequences) + " sequences of policy '" +
                                     policy.name + "' an iteration; expected " +
                                     std::to_string(settings.minibatches) +
                                     " or more, one for each minibatch (more environments, or a "
                                     "smaller \"sequence\")");
        if (own < settings.minibatches || samples * policy.agents >> 31)
            wrong("minibatches", std::to_string(own) + " samples of policy '" + policy.name +
                                     "' an iteration; expected " +
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
    if (sets_order) json.raw("ordered_sums", settings.gathers ? "true" : "false");
    if (any_remembers) json.number("sequence", settings.sequence);
    if (!settings.external) json.text("rollout", settings.stepwise ? "stepwise" : "auto");
    json.text("advantage", settings.traced ? "vtrace" : "gae");
    json.raw("normalise_observations", settings.normalises_observations ? "true" : "false");
    if (!settings.external) json.text("kept_observations", settings.keeps_pairs ? "bf16" : "f32");
    json.raw("normalise_returns", settings.scales_rewards ? "true" : "false");
    if (!settings.scales_rewards) json.number("reward_scale", settings.reward_factor);
    json.number("reward_bound", settings.reward_bound).text("normalise_advantages", scaled);
    write_dials(json, algorithm, settings.traced, dials);
    json.begin("policies");
    for (const PolicySettings& policy : settings.policies)
        if (!policy.is_critic())
            write_policy(json, policy, algorithm, settings, dials,
                         schema.has_continuous(policy.group));
    json.end();
    settings.resolved = json.done();
    return settings;
}

}
