#pragma once
#include "engine/config/config.h"
#include "engine/plugins/host_services.h"

namespace nacelle {

// Runs a hook on a loaded environment. `config` is the configuration's hooks.NAME; its relative paths start at
// `folder`.
void run_hook(Plugins& plugins, Environment& environment, const std::string& name,
              const Json& config, const std::filesystem::path& folder);

}
