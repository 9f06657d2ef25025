#pragma once
#include "algorithms/common/schedules.h"
#include "algorithms/common/settings.h"

namespace learn {

// One policy's own settings over those for all.
class PolicyReader final {
public:
    PolicyReader(const Algorithm& algorithm, const nacelle_environment& environment,
                 const Settings& settings, const nacelle::plugin::JsonValue& policies);

    PolicySettings read(const nacelle::Decider& decider, const Schedules& dials) const;

private:
    using Config = nacelle::plugin::Config;
    using JsonValue = nacelle::plugin::JsonValue;

    void apply(PolicySettings& policy, const JsonValue& value, const std::string& path) const;
    void read_own_network(PolicySettings& policy, Config& config, const std::string& path) const;
    void read_network(PolicySettings& policy, Config& config, const std::string& path) const;
    void read_head(PolicySettings& policy, Config& config, const std::string& path) const;

    const Algorithm& algorithm_;
    const nacelle_environment& environment_;
    const Settings& settings_;
    std::vector<std::pair<std::string, JsonValue>> objects_;
};

// What is said of settings that choose among kernels, where networks are computed elsewhere.
inline constexpr const char* of_kernels =
    "is a choice between kernels of 'ppo' and 'a2c'; this learner has one way";

// Once its network is known: whether it can be computed, and in which precision.
void check_policy(PolicySettings& policy, const Settings& settings,
                  const nacelle_environment& environment);
// All that was read of it; `common` are the dials of all policies, `real` whether it chooses real numbers.
void write_policy(JsonText& json, const PolicySettings& policy, const Algorithm& algorithm,
                  const Settings& settings, const Schedules& common, bool real);

}
