#pragma once
#include "algorithms/policy_gradient/plan/owners.h"
// In how many launches a rollout takes its steps, and what blocks have for that.

namespace learn {

// What a block takes of shared memory where a rollout of a network that remembers takes all steps in one launch.
uint64_t remembering_bytes(const PolicySettings& policy, const NetworkShape& shape);
// One launch for all steps where that can be: images are put together with the numbers before them, and layers that go
// through memory are launches of their own, but where they, or rows that remember, fit into shared memory; a team has to
// fit into a block beside its warps' rows.
uint64_t rollout_facts(const Settings& settings, const std::vector<NetworkShape>& shapes,
                       const nacelle_environment& environment);
// Of few environments each scheduler has one warp at most, and what that waits for is its activations: then half of its
// rows. An emulation goes through both.
int warp_envs(const Settings& settings, const NetworkShape& shape, uint64_t envs);

}
