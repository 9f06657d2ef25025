#pragma once
#include "engine/compile/compile_program.h"
#include "engine/compile/schema.h"
#include "engine/jit/author_source.h"

#include <future>
#include <map>
#include <set>

namespace nacelle {

// Everything that decides on the code of an environment.
struct EnvSource {
    std::filesystem::path file;    // the author's
    std::map<std::string, double> constants;
    std::set<std::string> varied;    // the parameters that are drawn
    bool strict = false;
    std::string where;    // who set the constants, for messages
};

// A program around an environment's functions that compiles on another thread.
struct PendingProgram {
    ProgramText text;
    std::vector<SourceFile> files;    // the version of the author's files that it was made from
    std::future<Binary> binary;       // throws the diagnostics as an Error
};

// The compiled code of one version of an author's files. The table of fields is known; the environment's own program
// may still be compiling. Other programs around this version can be started meanwhile.
struct EnvCode {
    std::shared_ptr<RunsOn> on;
    EnvSource source;
    std::vector<SourceFile> files;       // as they were read
    std::vector<std::string> defines;    // of every program around this environment
    EnvSchema schema;
    std::shared_future<Binary> stepwise;

    // Compiles exactly these files, even if they are saved again meanwhile.
    PendingProgram begin(const ProgramText& text, const std::atomic<bool>* cancel = nullptr) const;
};

// Throws the diagnostics as an Error, also where a constant that is set is not in the file. With `aside`, and a
// compiler that has helpers, it compiles the table of fields first and returns as soon as that is there. Otherwise it
// waits for the whole program.
EnvCode compile_env(std::shared_ptr<RunsOn> on, const EnvSource& source,
                    const CompileWay& way = {});

}
