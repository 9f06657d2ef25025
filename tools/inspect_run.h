#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// What a run's directory holds: its settings, its checkpoints and whether each is whole, the versions of
// its source.
Json describe_run(const std::filesystem::path& run);
void print_run(const Json& all);

}
