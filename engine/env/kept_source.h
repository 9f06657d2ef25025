#pragma once
#include "engine/env/backend.h"
#include "engine/jit/scan.h"

namespace nacelle {

// Where a version of an author's files can be compiled: at its own place while it still lies there, else
// from a copy. A program may be asked for long after its environment was compiled, when the file is
// another one or half written; it must be of the version that runs.
std::filesystem::path place_of(RunsOn& on, const std::vector<SourceFile>& files);

}
