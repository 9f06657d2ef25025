#pragma once
#include "engine/compile/backend.h"
#include "engine/run/configuration.h"
#include "engine/run/rank_place.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// Options that every command has.
struct Options {
    bool json = false;
    std::string backend = "auto";
    int threads = 0;
    std::optional<int64_t> seed;
    std::vector<std::filesystem::path> plugin_folders;
    std::vector<std::string> assignments;
    std::vector<std::string> models;    // --model
    std::filesystem::path config;
};

// The help of an argument that names an environment.
inline constexpr const char* env_help =
    "NAME for NAME.cu in this folder or in env_sources, or a path to a .cu; or settings that say "
    "which environment they are for: NAME for NAME.json, or a path to a .json";

// What is made of such an argument, as a file or a run, begins with this name: the argument's, but for a run's config.json
// the environment's.
std::string name_of(const std::string& env, const Json& configuration);

void add_common_options(Command command, Options& options);
// The same for a command on the directory of a run, which has its seed.
void add_run_options(Command command, Options& options, std::filesystem::path& run);
// --set and --model
void add_assignments(Command command, Options& options);
// --set, and the configuration file where `with_config`.
void add_config_options(Command command, Options& options, bool positional_config);

// The path of the running program as the first word of a command line; throws where it is unknown.
std::string own_program();
// The folders of environments: env_sources of the working directory, the build's and the installation's.
std::vector<std::filesystem::path> env_folders();
// Where a command looks up the name of an environment: the working directory, then env_folders().
std::vector<std::filesystem::path> named_folders();
// The options' folders first, then the build's or the installation's.
std::vector<std::filesystem::path> plugin_folders(const Options& options);
// Throws where an option names an environment that is not among `envs`.
void require_environment(const char* option, uint64_t which, uint64_t envs);
// Throws where --set says how many environments there are, which this command has an option for.
void refuse_set_count(const Options& options, const std::string& why, const std::string& instead);
std::shared_ptr<RunsOn> open_for(const Options& options);
// The same with compile helpers, which pay off for a learner's programs; for one run, or for several that follow each other.
std::shared_ptr<RunsOn> open_for_learner(const Options& options, bool several_runs = false);
// For one of several ranks: on its GPU, or with its share of this machine's threads.
std::shared_ptr<RunsOn> open_for_learner(const Options& options, const RankPlace& place);
// The settings of a run's folder with the options' assignments and models over them. Throws if a model may not be loaded.
ResolvedConfiguration changed_by(const Options& options, const Json& own, const std::string& where);
ConfigurationSources sources_for(const Options& options, const std::string& env);
// The same without a word to the user, where it was said already or is of no interest.
ConfigurationSources quiet_where(bool said, ConfigurationSources sources);

}
