#pragma once
#include "engine/jit/cache.h"
#include "engine/jit/jit.h"
#include "engine/jit/scan.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nacelle {

// What a compiler made, before it is kept.
struct BuiltImage {
    std::string image;    // a cubin, or the bytes of a shared object
    std::string warnings;
};
using BuildResult = std::variant<BuiltImage, Diagnostics>;
using BuildFunction = std::function<BuildResult(const std::vector<SourceFile>& closure)>;

// What the cache has of it already, if anything.
std::optional<Binary> find_compiled(Cache& cache, const std::string& identity,
                                    const ProgramSource& source);
// The way of every compile: look at the author's file, ask the cache, else build and keep. Builds
// again when a file was saved meanwhile, so that nothing is ever kept under another text's key.
Compiled compile_cached(Cache& cache, const std::string& identity, const ProgramSource& source,
                        const std::atomic<bool>* cancel, const BuildFunction& build);

// The same for a compiler that makes drafts, which are builds of another identity. Where the full build is there
// already, nobody needs one.
Compiled compile_as_wanted(Cache& cache, const std::string& full, const std::string& draft,
                           const ProgramSource& source, const std::atomic<bool>* cancel,
                           const BuildFunction& build);

// Everything that makes one binary differ from another.
std::string cache_key(const ProgramSource& source, const std::vector<SourceFile>& closure,
                      const std::string& identity);

// The line that includes the author's file under its own path; throws where no compiler can.
std::string include_line(const std::filesystem::path& author);

[[noreturn]] void throw_cancelled(const ProgramSource& source);

}
