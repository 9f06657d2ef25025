#pragma once
#include "algorithms/common/settings.h"

namespace learn {

// In which numbers a policy's networks are computed, and how a GPU goes through their layers: as the settings ask, else
// what is fastest. Throws where what was asked for cannot be.
void choose_precision(PolicySettings& policy, const nacelle_environment& environment,
                      bool emulates);
// Planes of bfloat16 that a number has on a GPU, and an error where that cannot compute them.
int planes_of(const PolicySettings& policy);
void require_tensor_cores(const nacelle_environment& environment);

}
