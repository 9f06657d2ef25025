#pragma once
#include "engine/compile/assigned_policies.h"
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
    AssignedPolicies policies;       // none: the author's file decides
    bool strict = false;
    std::string where;    // who set all that, for messages
};

// A program around an environment's functions, or around its sizes, that compiles on another thread.
struct PendingProgram {
    ProgramText text;
    std::vector<SourceFile> files;    // that it was made from
    std::future<Binary> binary;       // throws the diagnostics as an Error
};

// One version of an author's files, and what every program around it is compiled with.
struct EnvVersion {
    std::shared_ptr<RunsOn> on;
    EnvSource source;
    std::vector<SourceFile> files;
    std::vector<std::string> defines;

    // Compiles a copy of exactly these files, which may be saved meanwhile.
    Binary compile_copy(const ProgramText& text, const CompileWay& way) const;
    std::future<Binary> begin_copy(const ProgramText& text, const CompileWay& way) const;
};
// Throws where a constant that is set is not in the file.
EnvVersion version_of(std::shared_ptr<RunsOn> on, const EnvSource& source,
                      std::vector<SourceFile> files);

// The compiled code of one version of an author's files. The table of fields is known; the environment's own program
// may still be compiling. Other programs around this version can be started meanwhile.
struct EnvCode : EnvVersion {
    EnvSchema schema;
    std::shared_future<Binary> stepwise;
    std::vector<Binary> parts = {};    // of a draft in parts, those beside the one with the table

    // The files that a program is made from: the author's, or the stand-in of the same sizes (stand_in.h).
    std::vector<SourceFile> files_of(const ProgramText& text) const;
    // Compiles exactly these files, even if they are saved again meanwhile.
    PendingProgram begin(const ProgramText& text, const std::atomic<bool>* cancel = nullptr) const;
};

// Throws the diagnostics as an Error, also where a constant that is set is not in the file. With `aside`, and a
// compiler that has helpers, it compiles the table of fields first and returns as soon as that is there. Otherwise it
// waits for the whole program.
EnvCode compile_env(std::shared_ptr<RunsOn> on, const EnvSource& source,
                    const CompileWay& way = {});
// How drafts compile beside each other: one of them checks the author's struct for all. `from_pool`: episodes may begin
// from snapshots; their steps have the code for it then.
ProgramText beside_checks(ProgramText text, bool from_pool);
// The code of a version that was saved; compiles a copy of it. A draft is compiled in parts where helpers can take
// them; `stop` is set where one part does not compile, and ends the others.
EnvCode compile_saved(const EnvVersion& version, const CompileWay& way, bool from_pool,
                      std::atomic<bool>& stop);
// Whether helpers compile such a version, so that its drafts cost the programs around it no processor.
bool drafts_aside(const EnvVersion& version);

}
