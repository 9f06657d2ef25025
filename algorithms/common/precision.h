#pragma once
#include "algorithms/common/settings.h"

namespace learn {

// Tensor cores where there are some and the networks fit: in bfloat16 unless 32-bit floats were asked for, and for
// those, too, unless they are not wanted. Throws where what was asked for cannot be.
void choose_precision(PolicySettings& policy, const nacelle_environment& environment,
                      bool emulates);

}
