#pragma once
#include "engine/env/environment.h"
#include "engine/jit/author_source.h"
#include "engine/run/file_hashes.h"

namespace nacelle {

struct AuthorFiles {
    // The author's file and what it includes with quotes, as they were compiled, and the files that env.params names.
    // Paths below the author's folder are relative to it.
    std::vector<SourceFile> files;
    FileHashes hashes;
    std::string code;    // a hash of what is compiled, whatever its comments and spaces
};
// The files that an environment was made from.
AuthorFiles author_files(Environment& environment);

}
