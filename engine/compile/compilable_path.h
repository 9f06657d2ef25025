#pragma once
#include "engine/compile/backend.h"
#include "engine/jit/author_source.h"

namespace nacelle {

// A path under which a version of an author's files can be compiled: its own path while the files there still have
// this text, else that of a copy. A program may be requested long after its environment was compiled, and must be
// made from the version that runs.
std::filesystem::path compilable_path(RunsOn& on, const std::vector<SourceFile>& files);
// A copy of these files, which stays as it is when they are saved.
std::filesystem::path copied_path(RunsOn& on, const std::vector<SourceFile>& files);

}
