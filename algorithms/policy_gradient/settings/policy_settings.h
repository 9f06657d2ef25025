#pragma once
#include "algorithms/policy_gradient/settings/schedules.h"
#include "algorithms/policy_gradient/settings/setting_words.h"
#include "algorithms/policy_gradient/settings/settings.h"

namespace learn {

// Networks that are computed elsewhere are computed in one way.
inline constexpr const char* of_kernels =
    "is a choice between kernels of 'ppo' and 'a2c'; this learner has one way";

// "policies": each policy's settings over those for all. `describe` makes the networks of those that have one of their
// own. Throws where no policy is to be trained.
std::vector<PolicySettings> read_policies(const Algorithm& algorithm,
                                          const nacelle_environment& environment,
                                          const Settings& settings,
                                          const nacelle::plugin::JsonValue& policies,
                                          const Schedules& dials, const DescribeOwn& describe);
// With every default filled in; `real` where it has continuous actions.
void write_policy(JsonText& json, const PolicySettings& policy, const Algorithm& algorithm,
                  const Settings& settings, const Schedules& common, bool real);

}
