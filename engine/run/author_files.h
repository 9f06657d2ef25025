#pragma once
#include "engine/env/environment.h"
#include "engine/jit/author_source.h"
#include "engine/run/file_hashes.h"

#include <map>

namespace nacelle {

struct AuthorFiles {
    // The author's file and what it includes with quotes, as they were compiled, and the files that env.params names.
    // Paths below the author's folder are relative to it; of other files the names are kept. No two files have one name.
    std::vector<SourceFile> files;
    std::map<std::string, std::filesystem::path> places;    // where each lies, by that path
    FileHashes hashes;
    std::string code;    // a hash of what is compiled, whatever its comments and spaces
};
// The files of an environment of this source, code and parameters. Nothing is compiled.
AuthorFiles author_files(const std::filesystem::path& source, std::vector<SourceFile> code,
                         const Json& params);
// The files that an environment was made from.
AuthorFiles author_files(Environment& environment);

}
