#include "tools/options.h"

#include "engine/base/error.h"
#include "engine/base/installation.h"
#include "engine/base/text.h"
#include "engine/env/find_environment.h"
#include "engine/run/layers.h"
#include "engine/run/model_files.h"
#include "tools/compile_helper.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <thread>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

void add_folder(std::vector<fs::path>& folders, const fs::path& folder) {
    std::error_code error;
    const bool known = std::ranges::any_of(
        folders, [&](const fs::path& other) { return fs::equivalent(other, folder, error); });
    if (fs::is_directory(folder, error) && !known) folders.push_back(folder);
}

}

namespace {

// What every command takes.
void add_machine_options(Command command, Options& options) {
    command.flag("--json", options.json,
                 "One JSON object per line, nothing else on standard output");
    command.option("--backend", options.backend, "Where to run")
        .one_of({"auto", "cuda", "cpu"})
        .shows_default();
    command.option("--threads", options.threads, "Threads of the CPU backend; 0: one per processor")
        .between(0, 1024)
        .shows_default();
    command
        .option("--plugins", options.plugin_folders,
                "Search this folder for plugins, too, and first; may be repeated")
        .existing_folder()
        .repeated();
}

}

void add_common_options(Command command, Options& options) {
    add_machine_options(command, options);
    command
        .option("--seed", options.seed,
                "Seed of all random numbers; the configuration's, or 1, where none is given")
        .between(int64_t(0), int64_t(1) << 53);
}

void add_run_options(Command command, Options& options, fs::path& run) {
    add_machine_options(command, options);
    command.option("run", run, "Directory of a run, such as runs/cartpole-1").required();
}

void add_assignments(Command command, Options& options) {
    command
        .option("--set", options.assignments, "Set one value: --set env.count=512; may be repeated")
        .value_name("PATH=VALUE")
        .repeated()
        .checked([](const std::string& assignment) {
            try {
                Json probe;
                set_path(probe, assignment);
            } catch (const Error& wrong) {
                throw UsageError(wrong.what());
            }
        });
    command
        .option("--model", options.models,
                "Load this file of TorchScript or AOTInductor for a policy of the run: FILE, or "
                "POLICY=FILE for one of several policies; may be repeated")
        .value_name("FILE")
        .repeated();
}

void add_config_options(Command command, Options& options, bool positional_config) {
    if (positional_config) command.option("config", options.config, "Configuration file (JSON)");
    else command.option("--config", options.config, "Configuration file (JSON)");
    add_assignments(command, options);
}

std::string name_of(const std::string& env, const Json& configuration) {
    if (!is_path(env) && !env.ends_with(".json")) return env;
    const fs::path source = configuration["env"]["source"].get<std::string>();
    return (is_written_by_run(env) ? source : fs::path(env)).stem().string();
}

std::string own_program() {
    const fs::path self = running_program();
    if (self.empty())
        throw Error("/proc/self/exe",
                    "cannot be read, so that no process can be started for the author's code",
                    "mount /proc");
    return self.string();
}

std::vector<fs::path> named_folders() {
    std::vector<fs::path> folders = {fs::weakly_canonical(fs::current_path())};
    for (const fs::path& folder : env_folders()) add_folder(folders, folder);
    return folders;
}

std::vector<fs::path> env_folders() {
    std::vector<fs::path> folders;
    add_folder(folders, fs::current_path() / "env_sources");
    add_folder(folders, own_environments());
    return folders;
}

std::vector<fs::path> plugin_folders(const Options& options) {
    std::vector<fs::path> folders = options.plugin_folders;
    for (const fs::path& folder : own_plugins()) add_folder(folders, folder);
    return folders;
}

void require_environment(const char* option, uint64_t which, uint64_t envs) {
    if (which >= envs)
        throw Error(option, "there is no environment " + std::to_string(which),
                    envs == 1 ? "there is 0 alone" : "there are 0 to " + std::to_string(envs - 1));
}

namespace {

BackendSettings backend_of(const Options& options) {
    return {.backend = options.backend,
            .threads = options.threads,
            .cache = {},
            .env_folders = env_folders(),
            .compile_helper = {}};
}

}

void refuse_set_count(const Options& options, const std::string& why, const std::string& instead) {
    for (const std::string& one : options.assignments)
        if (one.starts_with("env.count=")) throw Error("--set " + one, why, instead);
}

std::shared_ptr<RunsOn> open_for(const Options& options) {
    return open_backend(backend_of(options));
}

std::shared_ptr<RunsOn> open_for_learner(const Options& options, bool several_runs) {
    BackendSettings settings = backend_of(options);
    settings.keeps = several_runs;
    settings.compile_helper = compile_helper(running_program());
    return open_backend(settings);
}

std::shared_ptr<RunsOn> open_for_learner(const Options& options, const RankPlace& place) {
    if (place.ranks == 1) return open_for_learner(options);
    BackendSettings settings = backend_of(options);
    settings.compile_helper = compile_helper(running_program());
    settings.gpu = gpu_of(place, [](const char* name) -> const char* { return std::getenv(name); });
    if (settings.threads == 0)
        settings.threads =
            std::max(1, int(std::thread::hardware_concurrency() / place.local_ranks));
    return open_backend(settings);
}

namespace {

// Says that a name in the working directory, or in the folder of settings, hides another environment. Among folders of
// environments one silently replaces the other.
void look_at_choice(const std::vector<fs::path>& files) {
    const fs::path& taken = files.front();
    const std::vector<fs::path> own = env_folders();
    if (std::ranges::find(own, taken.parent_path()) == own.end() && files.size() > 1)
        std::cerr << printable(taken.stem().string() + ": " + taken.string() +
                               " is taken; the other one, " + files[1].string() +
                               ", has to be named by its path")
                  << std::endl;
}

}

ResolvedConfiguration changed_by(const Options& options, const Json& own,
                                 const std::string& where) {
    std::vector<std::string> assignments = options.assignments;
    std::ranges::copy(model_assignments(own, options.models), std::back_inserter(assignments));
    ResolvedConfiguration changed = changed_configuration(own, where, assignments);
    check_model_files(
        changed.json, where,
        {.said = said_by(assignments), .plugin_folders = plugin_folders(options), .of_run = true});
    return changed;
}

ConfigurationSources sources_for(const Options& options, const std::string& env) {
    ConfigurationSources sources{
        .env = env,
        .file = options.config,
        .assignments = options.assignments,
        .models = options.models,
        .env_folders = named_folders(),
        .plugin_folders = plugin_folders(options),
        .found = look_at_choice,
        .note = [](const std::string& line) { std::cerr << printable(line) << std::endl; }};
    if (options.seed) sources.assignments.push_back("seed=" + std::to_string(*options.seed));
    return sources;
}

ConfigurationSources quiet_where(bool said, ConfigurationSources sources) {
    if (said) sources.found = nullptr, sources.note = nullptr;
    return sources;
}

}
