#pragma once
#include "engine/env/environment.h"
#include "engine/jit/scan.h"

namespace nacelle {

// What an environment was made from: the author's file and what it includes with quotes, as they were
// compiled, and the files that env.params names. Paths are relative to the author's folder, where they lie below it.
std::vector<SourceFile> author_files(Environment& environment);
// The hash of each by its name, for telling whether one has changed.
Json hashes_of(const std::vector<SourceFile>& files);
// The name of the first file that differs.
std::string first_difference(const Json& then, const Json& now);

}
