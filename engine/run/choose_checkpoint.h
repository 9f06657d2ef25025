#pragma once
#include "engine/base/log.h"
#include "engine/run/checkpoint.h"

namespace nacelle {

// The checkpoint of a run that a name asks for: "best" (the latest where none is), "latest", or a number of steps.
// Warns of each newer one that is not whole; throws, with the names that there are, where there is none.
Checkpoint choose_checkpoint(const std::filesystem::path& run, const std::string& name,
                             const Log& log);

}
