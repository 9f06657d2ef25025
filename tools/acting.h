#pragma once
#include "engine/config/config.h"

#include <string>
#include <vector>

namespace nacelle::tools {

// The configuration under which a run's policy acts: the run's `own` with `assignments`, which may change the
// environment. On a CPU it computes in f32 with the weights that a GPU trained in bf16.
Json acting_configuration(Json own, const std::vector<std::string>& assignments, bool on_gpu);

}
