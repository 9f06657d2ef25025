#pragma once
#include "engine/env/environment.h"
#include "engine/jit/author_source.h"

namespace nacelle {

// The files that an environment was made from: the author's file and what it includes with quotes, as they were
// compiled, and the files that env.params names. Paths below the author's folder are relative to it.
std::vector<SourceFile> author_files(Environment& environment);
// The hash of each file by its name, to detect changes.
Json hashes_of(const std::vector<SourceFile>& files);
// The name of the first file that differs.
std::string first_difference(const Json& then, const Json& now);

}
