#pragma once
#include "engine/policy/policy_description.h"

#include <nlohmann/json.hpp>

namespace nacelle {

// The names in a description of policies, in order.
std::vector<std::string> policy_names(const nlohmann::json& policies);

// The description of the policy with this name; it may be empty where there is one policy. `policies` is what a learner
// tells, and may come from an untrusted file: every value is checked. `where` names it in messages.
PolicyDescription read_policy_description(const nlohmann::json& policies, const std::string& name,
                                          const std::string& where);

}
