#pragma once
#include "engine/config/origins.h"

#include <functional>

namespace nacelle {

// The sources of a run's settings, weakest first: built-in defaults, ENV.json beside the source, settings that were named
// in place of an environment, the given file, assignments such as "env.count=512".
struct ConfigurationSources {
    std::string
        env;    // a name or a path of an environment, or of settings that name theirs; empty: the file says it
    std::filesystem::path file;    // empty: none
    std::vector<std::string> assignments;
    std::vector<std::string> models = {};    // files of models, as model_assignments() takes them
    std::vector<std::filesystem::path> env_folders;
    std::vector<std::filesystem::path> plugin_folders = {};    // a run's model may lie there
    // Called with all files of the name of an environment or of settings, the taken file first.
    std::function<void(const std::vector<std::filesystem::path>&)> found = {};
    // Called with a line for the user where the file's settings are for another environment.
    std::function<void(const std::string&)> note = {};
};

// A configuration whose sources lie over each other, with an absolute path in "env.source".
struct ResolvedConfiguration {
    Json json;
    std::string where;    // its name in errors
    Origins origins;
    // The file that another process has to be told to come to the same: settings that were named, else the source.
    std::filesystem::path named = {};
};
ResolvedConfiguration resolve_configuration(const ConfigurationSources& sources);
// A run's own configuration, named `where`, with assignments over it.
ResolvedConfiguration changed_configuration(Json own, std::string where,
                                            const std::vector<std::string>& assignments);

// Calls `body` with the configuration and its name in errors. An error about a value names the option or the file that
// gave it.
using ConfigurationUse = std::function<void(const Json&, const std::string&)>;
void with_configuration(const ResolvedConfiguration& configuration, const ConfigurationUse& body);
void with_configuration(const ConfigurationSources& sources, const ConfigurationUse& body);

}
