#pragma once
#include "algorithms/policy_gradient/settings/json_text.h"
#include "algorithms/policy_gradient/settings/settings.h"

// Pools of past policies as opponents: their settings, and whether the environment and the run have room for them.
namespace learn {

// `opponents` of a policy; `path` is where it stands.
void read_opponents(PastSettings& past, const nacelle::plugin::JsonValue& value,
                    const std::string& path);
// Who plays whose past, of all policies; throws where nobody can.
void match_opponents(std::vector<PolicySettings>& policies, const nacelle_environment& environment,
                     const Settings& settings);
void write_opponents(JsonText& json, const PastSettings& past);

}
