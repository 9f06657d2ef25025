#pragma once
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/settings.h"

#include <learn/formulas/conv.h>

namespace learn {

// The convolutions of a policy's networks on the images that its agents see. Throws, with the setting's path, where they
// do not fit.
Encoder encoder_of(const PolicySettings& policy, const SchemaView& schema);
// It as text of C++, for a Spec.
std::string encoder_text(const Encoder& encoder);

}
