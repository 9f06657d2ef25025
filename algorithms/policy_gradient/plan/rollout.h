#pragma once
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <learn/layout/memory_layout.h>
#include <learn/layout/resident_layout.h>
namespace learn {

// How a rollout takes its steps: by a launch for each step, or by one launch whose blocks take all steps.
enum class Rollout {
    steps,             // a launch for each step
    blocks,            // a CPU's blocks of environments
    warps,             // warps with networks in registers; environments of one agent
    teams,             // warps with networks in registers; teams
    remembering,       // blocks with the memory of rows in shared memory
    resident,          // blocks with weights in shared memory; environments of one agent
    resident_teams,    // blocks with weights in shared memory; teams
};
// Chooses one launch where it can. Each step needs launches of its own where an environment shows images, and where layers
// go through memory, unless the weights, or the rows' memory, fit into shared memory. A team must fit into a block.
Rollout rollout_of(const Settings& settings, const std::vector<NetworkShape>& shapes,
                   const nacelle_environment& environment);

// Shared memory of a block of Rollout::remembering.
uint64_t remembering_bytes(const PolicySettings& policy, const NetworkShape& shape);
// Environments of a warp in Rollout::warps. With few environments each scheduler has one warp at most, and that warp waits
// for activations: then a warp has half as many rows. An emulation takes both ways.
int warp_envs(const Settings& settings, const NetworkShape& shape, uint64_t envs);

}
