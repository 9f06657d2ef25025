#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

namespace learn {

// What the setting `hidden` lists, from the first layer to the last: codes, convolutions, then layers of neurons.
void read_hidden(PolicySettings& policy, const nacelle::plugin::JsonValue& list,
                 const std::string& where);
// The same as the JSON that it could be read from.
std::string hidden_text(const PolicySettings& policy);

}
