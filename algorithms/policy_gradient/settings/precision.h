#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

namespace learn {

// In which numbers a policy's networks are computed, and how a GPU goes through their layers: as the settings ask, else
// what is fastest. Throws where what was asked for cannot be.
void choose_precision(PolicySettings& policy, const nacelle_environment& environment,
                      bool emulates);
// Throws where a GPU has none for these numbers.
void require_tensor_cores(const nacelle_environment& environment);

}
