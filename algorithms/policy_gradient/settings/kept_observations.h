#pragma once
#include "algorithms/policy_gradient/settings/settings.h"

namespace learn {

// Whether a rollout keeps what is observed in bf16, for the word that was asked: "auto", "f32" or "bf16".
bool keeps_in_bf16(const std::string& word, const Settings& settings,
                   const nacelle_environment& environment);

}
