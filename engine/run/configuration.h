#pragma once
#include "engine/config/config.h"

namespace nacelle {

// Where a run's settings come from, weakest first: what is built in, ENV.json beside the source, the
// given file, assignments such as "env.count=512".
struct ConfigurationSources {
    std::string env;               // a name or a path; empty: the file says it
    std::filesystem::path file;    // empty: none
    std::vector<std::string> assignments;
    std::vector<std::filesystem::path> env_folders;
};

// The merged JSON with "env.source" as an absolute path. `where` becomes the text's name in messages.
Json resolve_configuration(const ConfigurationSources& sources, std::string& where);

}
