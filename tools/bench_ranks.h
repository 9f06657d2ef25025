#pragma once
#include "engine/config/config.h"

#include <vector>

namespace nacelle::tools {

// 'bench --train --ranks 1,2': measures this command again by each number of ranks, and prints how the rates grow. Exits with the
// status of the first one that failed.
void bench_ranks(const std::vector<uint32_t>& counts, bool json);

}
