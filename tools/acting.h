#pragma once
#include "engine/run/configuration.h"

namespace nacelle::tools {

// The configuration under which a run's policy acts: the run's own with `assignments`, which may change the
// environment. On a CPU it computes in f32 with the weights that a GPU trained in bf16.
ResolvedConfiguration acting_configuration(const std::filesystem::path& run,
                                           const std::vector<std::string>& assignments,
                                           bool on_gpu);

}
