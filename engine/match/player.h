#pragma once
#include "engine/env/environment.h"
#include "engine/policy/open_policy.h"
#include "engine/run/checkpoint.h"

#include <memory>

namespace nacelle {

// Who plays: a policy for each of an environment's policies, in their order.
struct Player {
    std::string name;
    std::vector<std::shared_ptr<const TrainedPolicy>> policies;    // null: acts at random
};

Player random_player(const Environment& env);
// The policies of a checkpoint. Throws where it is of another environment, or sees or does something else there, and
// where a policy cannot act apart from its learner.
Player player_of(const Checkpoint& checkpoint, const Environment& env, const std::string& name);
// A policy that was opened, and the file that it is of.
struct NamedPolicy {
    std::string where;
    OpenedPolicy opened;
};
// One policy for each of the environment's. Throws likewise, and where one is missing or there is none of its name.
Player player_of(const std::vector<NamedPolicy>& policies, const Environment& env);

}
