#pragma once
#include "engine/config/config.h"
#include "engine/run/checkpoint.h"

namespace nacelle::tools {

// The pools of past policies that a checkpoint holds: for each policy its rating, and of each member the step of the run
// that it is from, its rating, and results of lately of who learned against it. An empty list where there are none.
Json describe_pools(const Checkpoint& checkpoint);
void print_pools(const Json& pools);

}
