#pragma once
#include "engine/config/config.h"

namespace nacelle::tools {

// The content of a run's directory: its settings, its checkpoints and whether each is whole, the versions of its
// source.
Json describe_run(const std::filesystem::path& run);
void print_run(const Json& all);

}
