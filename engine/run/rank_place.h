#pragma once
#include "engine/plugins/ranks_instance.h"

#include <functional>

namespace nacelle {

// The value of an environment variable; null where it is not set.
using Variables = std::function<const char*(const char* name)>;

// MASTER_ADDR of ranks on one machine, under any name of the launcher. No other machine reaches this address.
constexpr const char* loopback_address = "127.0.0.1";

// Where this process stands among those that train together, by the variables that torchrun (and 'train --ranks') set,
// else Slurm's, else Open MPI's. One rank where none of them is set. Throws where one is missing or makes no sense.
RankPlace rank_place(const Variables& variable);

// The GPU of a rank: that of its number among those of its machine. Slurm may show each task its own GPU alone, which
// is then the first.
int gpu_of(const RankPlace& place, const Variables& variable);

}
