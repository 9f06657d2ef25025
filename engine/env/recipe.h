#pragma once
#include "engine/env/program.h"
#include "engine/env/settings.h"
#include "engine/jit/scan.h"

#include <map>
#include <set>

namespace nacelle {

// All that another thread needs to compile an environment and the programs around it anew.
struct Recipe {
    EnvSettings settings;
    std::set<std::string> varied;                // the parameters that are drawn
    std::map<uint64_t, ProgramText> programs;    // by their number
};

// An environment's own program, compiled.
struct EnvCode {
    std::vector<SourceFile> files;       // the author's, as they were read
    std::vector<std::string> defines;    // of every program around this environment
    std::set<std::string> varied;
    Binary stepwise;
    // Where `stepwise` is only the table of fields yet: the program itself, when it is compiled.
    std::shared_future<Compiled> to_come;
};

// Throws the diagnostics as an Error; also where a constant that is set is not in the file.
EnvCode compile_environment(RunsOn& on, const EnvSettings& settings,
                            const std::set<std::string>& varied,
                            const std::atomic<bool>* cancel = nullptr, bool draft = false);
// The same, back as soon as there is a table of fields: where programs can be compiled side by side, it is compiled
// alone and first, and what is built on the table need not wait for the rest.
EnvCode begin_environment(const std::shared_ptr<RunsOn>& on, const EnvSettings& settings,
                          const std::set<std::string>& varied);
// A program around these files and no others, also where they are saved again meanwhile.
Compiled compile_version(RunsOn& on, const std::vector<SourceFile>& files, const ProgramText& text);
// A program's text with the environment's defines before its own.
ProgramText with_defines(const ProgramText& text, const std::vector<std::string>& defines);

// What agents see and do of two environments is the same, so that one's policy can act in the other;
// else the first difference in words.
std::string difference_of_spaces(const EnvSchema& before, const EnvSchema& after);

}
