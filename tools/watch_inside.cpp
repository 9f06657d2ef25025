#include "tools/watch_inside.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/run/choose_checkpoint.h"
#include "engine/run/directory.h"
#include "engine/supervised/parent.h"
#include "engine/watch/reporting_compiler.h"
#include "tools/acting.h"
#include "tools/output.h"

#include <algorithm>
#include <nacelle/plugin/failure_text.h>

namespace nacelle::tools {

ResolvedConfiguration configuration_of(const Watch& watch, bool on_gpu) {
    ConfigurationSources sources =
        quiet_where(watch.inside >= 0, sources_for(watch.options, watch.environment));
    if (!watch.policy.empty()) sources.models.clear();    // they are the run's
    ResolvedConfiguration configuration = resolve_configuration(sources);
    if (watch.policy.empty()) {
        refuse_set_count(watch.options, "a watch has a number of its own", "--count N");
        configuration.json["env"]["count"] = watch.count;
        return configuration;
    }
    ResolvedConfiguration its = acting_configuration(watch.policy, watch.options, on_gpu);
    its.json["env"]["source"] = configuration.json["env"]["source"];
    its.named = configuration.named;
    if (watch.options.seed) its.json["seed"] = *watch.options.seed;
    return its;
}

std::vector<std::filesystem::path> settings_files(const Watch& watch,
                                                  const std::filesystem::path& source) {
    std::filesystem::path beside = source;
    std::vector<std::filesystem::path> files = {beside.replace_extension(".json")};
    if (watch.environment.ends_with(".json")) files.emplace_back(watch.environment);
    if (!watch.options.config.empty())
        files.push_back(std::filesystem::absolute(watch.options.config));
    return files;
}

namespace {

// Throws where what is to be shown is not there.
void require_shown(const Watch& watch, const EnvSchema& schema) {
    const uint32_t agents = schema.header().agents;
    if (watch.agent >= agents)
        throw Error("--agent", "there is no agent " + std::to_string(watch.agent),
                    "there are 0 to " + std::to_string(agents - 1));
    std::vector<std::string> names;
    for (const Field& field : schema.fields())
        if (field.slot >= 0 && (field.per == Per::env || field.per == Per::row))
            names.push_back(field.name);
    for (const std::string& word : watch.arrays)
        if (std::none_of(names.begin(), names.end(),
                         [&](const std::string& name) { return is_meant(name, word); }))
            throw Error("--arrays", "there is no array '" + word + "'", suggest(word, names));
}

// Checks everything that only the stepping process can know.
WatchSettings session_settings(const Watch& watch, const Environment& env,
                               std::optional<uint64_t> trained) {
    require_shown(watch, env.schema());
    WatchSettings settings = watch.settings;
    if (watch.record.wanted()) settings.record = watch.record.settings(env.count());
    settings.record_to = watch.record.to;
    settings.trained = trained;
    if (watch.policy.empty())
        settings.configured = {.files = settings_files(watch, env.settings().source),
                               .read = [&watch] { return configuration_of(watch, true).json; }};
    return settings;
}

void step_inside(const Watch& watch, const std::shared_ptr<ChannelViewer>& viewer) {
    const std::shared_ptr<RunsOn> on =
        open_for_learner(watch.options);    // its helpers compile what is saved
    on->compiler = reporting_compiler(std::move(on->compiler), viewer);
    Plugins plugins(plugin_folders(watch.options), on->cache, on->log);
    std::shared_ptr<Environment> env;
    std::unique_ptr<Trainee> trainee;
    with_configuration(configuration_of(watch, on->cuda()), [&](const Json& configuration,
                                                                const std::string& where) {
        env = load_environment(on, plugins, configuration, where);
        if (!watch.policy.empty())
            trainee = std::make_unique<Trainee>(env, plugins, configuration, where);
    });
    std::string policy = "random";
    std::optional<uint64_t> trained;
    if (trainee) {
        const Checkpoint checkpoint = choose_checkpoint(watch.policy, "best", on->log);
        trainee->load_to_act(checkpoint, true);
        env->set_progress(EpisodeProgress::ended());
        trained = checkpoint.record.steps;
        policy = watch.policy.string() + " at step " + std::to_string(*trained);
    }
    WatchSession(env, std::move(trainee), viewer, session_settings(watch, *env, trained), policy)
        .run();
}

}

void run_inside(const Watch& watch) {
    const auto viewer = std::make_shared<ChannelViewer>(watch.inside);
    report_crashes(watch.inside);
    try {
        step_inside(watch, viewer);
    } catch (const std::exception& wrong) {
        viewer->show("broken", json_text(plugin::failure_text(wrong)));
        throw EndWith{3};
    }
    viewer->show("done", "true");
}

std::vector<std::string> inner_command(const Watch& watch) {
    const Options& options = watch.options;
    std::vector<std::string> command = {own_program(),
                                        "watch",
                                        watch.environment,
                                        "--backend",
                                        options.backend,
                                        "--threads",
                                        std::to_string(options.threads),
                                        "--steps",
                                        std::to_string(watch.settings.steps)};
    const auto add = [&](const char* name, const std::string& value) {
        command.insert(command.end(), {name, value});
    };
    if (options.seed) add("--seed", std::to_string(*options.seed));
    if (!options.config.empty()) add("--config", options.config.string());
    for (const auto& folder : options.plugin_folders) add("--plugins", folder.string());
    for (const std::string& one : options.assignments) add("--set", one);
    for (const std::string& one : options.models) add("--model", one);
    if (watch.policy.empty()) add("--count", std::to_string(watch.count));
    else add("--policy", watch.policy.string());
    if (watch.settings.sampled) command.emplace_back("--sampled");
    for (const uint32_t which : watch.settings.record.environments)
        add("--record-envs", std::to_string(which));
    for (const std::string& array : watch.settings.record.arrays) add("--record-arrays", array);
    if (watch.record.wanted()) add("--record-to", watch.record.to.string());
    add("--agent", std::to_string(watch.agent));
    for (const std::string& array : watch.arrays) add("--arrays", array);
    command.emplace_back("--inside");
    return command;
}

}
