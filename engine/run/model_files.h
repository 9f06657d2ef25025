#pragma once
#include "engine/config/config.h"

#include <filesystem>
#include <string>
#include <vector>

namespace nacelle {

// The native code of a policy's network lies in a file if "model" is {"script": FILE} or {"package": FILE}.

// The rules by which a model's file may be loaded.
struct ModelRules {
    const Json& said;    // the settings of this command line or call
    const std::vector<std::filesystem::path>& plugin_folders;
    bool of_run = false;    // the settings come from a run's folder
};
// Throws unless every file of a model may be loaded, and notes each file's hash in the settings. A file that `said` names
// may always be loaded. For any other file, only this user and root may be able to write the file, and the noted hash
// must match; in a run's settings the file must also lie in a folder of plugins.
void check_model_files(Json& settings, const std::string& where, const ModelRules& rules);

// The words FILE or POLICY=FILE as assignments that give policies of a run another file of the same kind.
std::vector<std::string> model_assignments(const Json& settings,
                                           const std::vector<std::string>& words);

}
