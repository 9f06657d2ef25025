#pragma once
#include "engine/compile/assigned_policies.h"
#include "engine/config/config.h"

namespace nacelle {

// Reads "env.policies": {"red": 0, "blue": [1, "3-7"]}. Throws where a policy has no agent, or an agent two policies.
AssignedPolicies read_policies(Config policies);
// The same as read_policies() takes.
Json policies_json(const AssignedPolicies& policies);

}
