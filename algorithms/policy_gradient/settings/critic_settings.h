#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

namespace learn {

// "critic" of a policy: what the network of its values sees, and its layers.
CriticSettings read_critic(const nacelle::plugin::JsonValue& value, const std::string& path,
                           const nacelle_environment& environment);
std::string critic_text(const CriticSettings& critic);
// Behind the policies a network for each critic of one that learns.
void add_critics(std::vector<PolicySettings>& policies);

}
