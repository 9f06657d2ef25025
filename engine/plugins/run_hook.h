#pragma once
#include "engine/config/config.h"
#include "engine/plugins/host_services.h"

namespace nacelle {

// Lets a hook prepare an environment that was loaded. `config` is what the configuration's hooks.NAME
// holds; relative paths in it start at `folder`.
void run_hook(Plugins& plugins, Environment& environment, const std::string& name,
              const Json& config, const std::filesystem::path& folder);

}
