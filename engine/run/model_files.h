#pragma once
#include "engine/config/config.h"

#include <filesystem>
#include <string>
#include <vector>

namespace nacelle {

// The native code of a policy's network lies in a file if "model" is {"script": FILE} or {"package": FILE}.

// What decides whether such a file may be loaded.
struct ModelRules {
    const Json& said;    // what this command line or call says itself
    const std::vector<std::filesystem::path>& plugin_folders;
    bool of_run = false;    // the settings come from a run's folder
};
// Throws unless every file of a model in the settings may be loaded, and notes each file's hash in the settings. A file
// that is named anew may always be loaded. Any other file must be one that no other user could have written, and must
// have the noted hash; in a run's settings it must also lie in a folder of plugins.
void check_model_files(Json& settings, const std::string& where, const ModelRules& rules);

// The words FILE or POLICY=FILE as assignments that give policies of a run another file of the same kind.
std::vector<std::string> model_assignments(const Json& settings,
                                           const std::vector<std::string>& words);

}
