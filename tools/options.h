#pragma once
#include "engine/env/backend.h"
#include "engine/run/configuration.h"
#include "tools/command_line.h"

namespace nacelle::tools {

// What every command takes.
struct Options {
    bool json = false;
    std::string backend = "auto";
    int threads = 0;
    std::optional<int64_t> seed;
    std::vector<std::filesystem::path> plugin_folders;
    std::vector<std::string> assignments;
    std::filesystem::path config;
};

void add_common_options(Command command, Options& options);
// As add_common_options, for a command on a run's directory, which has its seed already.
void add_run_options(Command command, Options& options, std::filesystem::path& run);
// --set
void add_assignments(Command command, Options& options);
// --set, and the configuration file where `with_config`.
void add_config_options(Command command, Options& options, bool positional_config);

// The running binary; empty where the system does not say.
std::filesystem::path running_program();
// The same as the first word of a command line that starts it again. Throws where nobody knows it.
std::string own_program();
std::vector<std::filesystem::path> env_folders();
// The options' folders first, then the build's or the installation's.
std::vector<std::filesystem::path> plugin_folders(const Options& options);
// Throws where an option names an environment that is not among `envs`.
void require_environment(const char* option, uint64_t which, uint64_t envs);
std::shared_ptr<RunsOn> open_for(const Options& options);
// The same with processes that help to compile, which a learner's programs are worth.
std::shared_ptr<RunsOn> open_for_learner(const Options& options);
ConfigurationSources sources_for(const Options& options, const std::string& env);

}
