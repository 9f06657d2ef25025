#pragma once
#include "engine/policy/trained_policy.h"
#include "engine/run/checkpoint.h"
#include "engine/run/trainee.h"

#include <memory>

namespace nacelle {

// A policy with what is known of its training.
struct OpenedPolicy {
    std::shared_ptr<const TrainedPolicy> policy;
    std::string environment;
    uint64_t steps = 0;    // that it was trained for
    Json told = {};        // its description as it was read
};

// The checkpoint at a path: of a run's directory the one with this name (see choose_checkpoint), or a checkpoint's
// JSON itself.
Checkpoint checkpoint_at(const std::filesystem::path& path, const std::string& checkpoint);
// The descriptions of a checkpoint's policies; throws where it has none.
const nlohmann::json& policies_in(const Checkpoint& checkpoint);
// The policy with this name, which may be empty where there is one. No environment, compiler or plugin is needed.
OpenedPolicy open_policy(const Checkpoint& checkpoint, const std::string& name);
// The same of a learner as it is now, after so many steps.
OpenedPolicy open_policy(Trainee& trainee, uint64_t steps, const std::string& name);

}
