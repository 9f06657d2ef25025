#pragma once
#include "engine/config/config.h"

#include <functional>

namespace nacelle {

// The sources of a run's settings, weakest first: built-in defaults, ENV.json beside the source, the given file,
// assignments such as "env.count=512".
struct ConfigurationSources {
    std::string env;               // a name or a path; empty: the file says it
    std::filesystem::path file;    // empty: none
    std::vector<std::string> assignments;
    std::vector<std::filesystem::path> env_folders;
    // Called where a name stands for files in several folders: with the one that is taken, and the next.
    std::function<void(const std::filesystem::path& taken, const std::filesystem::path& other)>
        several = {};
};

// The merged JSON with an absolute path in "env.source". `where` gets the name of the configuration in messages.
Json resolve_configuration(const ConfigurationSources& sources, std::string& where);

}
