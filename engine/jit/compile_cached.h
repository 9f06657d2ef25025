#pragma once
#include "engine/jit/author_source.h"
#include "engine/jit/cache.h"
#include "engine/jit/jit.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nacelle {

// Runs a compiler. The image of its binary is a cubin or the bytes of a shared object.
// `key` is the one that it will be cached under; it is empty where the binary will not be.
using BuildFunction =
    std::function<Compiled(const std::vector<SourceFile>& closure, const std::string& key)>;

// The cached binary of a source, or of a key, if there is one.
std::optional<Binary> find_compiled(Cache& cache, const std::string& identity,
                                    const ProgramSource& source);
std::optional<Binary> find_compiled(Cache& cache, const std::string& key);
// Every compile goes this way: read the author's files, ask the cache, else build and store. Builds again where a
// file was saved meanwhile, so that nothing is stored under the key of another text. Code that reads files which we do not
// know is built each time. `full` and `draft` are the
// identities of the two kinds of builds; a draft is not built where the full build is cached.
Compiled compile_cached(Cache& cache, const std::string& full, const std::string& draft,
                        const ProgramSource& source, const std::atomic<bool>* cancel,
                        const BuildFunction& build);

// The #include line of the author's file under its own path, or nothing where there is none; throws where no compiler
// can read such a path.
std::string include_line(const std::filesystem::path& author);

[[noreturn]] void throw_cancelled(const ProgramSource& source);

}
