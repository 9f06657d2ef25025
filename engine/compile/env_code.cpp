#include "engine/compile/env_code.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/compile/compilable_path.h"
#include "engine/compile/layout_defines.h"
#include "engine/compile/stand_in.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

ProgramText stepwise_of(const std::string& kernels) {
    return {.instantiation = "#include <nacelle/programs/stepwise.h>\n" + kernels,
            .headers = {},
            .defines = {}};
}
const ProgramText stepwise_text = stepwise_of("NACELLE_STEPWISE()\n");
// The same in three programs. The last takes the least time: it has the table, and checks the author's struct for all.
const ProgramText step_text = stepwise_of("NACELLE_VIEW()\nNACELLE_STEP_KERNEL()\n"),
                  reset_text = stepwise_of("NACELLE_VIEW()\nNACELLE_RESET_KERNEL()\n"),
                  small_text = stepwise_of("NACELLE_PROGRAM()\nNACELLE_SMALL_KERNELS()\n");

const ProgramText table_text{.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n",
                             .headers = {},
                             .defines = {}};

// The constants of the configuration and the names of varied parameters, as the SDK's macros take them.
std::vector<std::string> baked(const EnvSource& source, const fs::path& file) {
    std::vector<std::string> known;
    for (const ConstantUse& use : constants_of(file)) known.push_back(use.name);
    for (const auto& [name, value] : source.constants)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(source.where,
                        "env.constants." + name + ": " + source.file.filename().string() +
                            " has no constant '" + name + "'",
                        suggest(name, known));
    std::vector<std::string> defines =
        layout_defines(source.constants, source.varied, source.policies, source.where);
    if (source.strict) defines.push_back(strict_define);
    return defines;
}

ProgramText with_defines(ProgramText text, const std::vector<std::string>& defines) {
    text.defines.insert(text.defines.begin(), defines.begin(), defines.end());
    return text;
}

// Compiles exactly these files: again from a copy where they have changed meanwhile, or where the author's file was
// away for a moment.
Binary compile_version(RunsOn& on, const std::vector<SourceFile>& files, const ProgramText& text,
                       CompileWay way) {
    way.copy_of = files.front().path;
    const fs::path path = compilable_path(on, files);
    try {
        Binary made = compile_program(on, path, text, way);
        if (compilable_path(on, files) == path) return made;
    } catch (const std::exception&) {
        if (compilable_path(on, files) == path) throw;
    }
    return compile_program(on, compilable_path(on, files), text, way);
}

std::future<Binary> begin_version(const std::shared_ptr<RunsOn>& on,
                                  const std::vector<SourceFile>& files, ProgramText text,
                                  const std::atomic<bool>* cancel) {
    return std::async(std::launch::async, [on, files, text = std::move(text), cancel] {
        return compile_version(*on, files, text, {.cancel = cancel, .aside = true});
    });
}

}

std::vector<SourceFile> EnvCode::files_of(const ProgramText& text) const {
    if (!text.of_sizes) return files;
    // No such file lies there: it is compiled from a copy, as a version that was saved over.
    return {{on->cache->files() / "sizes.cu", stand_in_text(schema)}};
}

PendingProgram EnvCode::begin(const ProgramText& text, const std::atomic<bool>* cancel) const {
    std::vector<std::string> needed = defines;
    if (text.of_sizes)    // constants and varied parameters are in the stand-in's sizes
        std::erase_if(needed, [](const std::string& one) { return one != strict_define; });
    const std::vector<SourceFile> made_from = files_of(text);
    return {text, made_from, begin_version(on, made_from, with_defines(text, needed), cancel)};
}

EnvVersion version_of(std::shared_ptr<RunsOn> on, const EnvSource& source,
                      std::vector<SourceFile> files) {
    std::vector<std::string> defines = baked(source, compilable_path(*on, files));
    return {std::move(on), source, std::move(files), std::move(defines)};
}

Binary EnvVersion::compile_copy(const ProgramText& text, const CompileWay& way) const {
    CompileWay of_copy = way;
    of_copy.copy_of = source.file;
    return compile_program(*on, copied_path(*on, files), with_defines(text, defines), of_copy);
}
std::future<Binary> EnvVersion::begin_copy(const ProgramText& text, const CompileWay& way) const {
    return std::async(std::launch::async,
                      [version = *this, text, way] { return version.compile_copy(text, way); });
}

namespace {

EnvCode code_of(EnvVersion version, const Binary& table, std::shared_future<Binary> stepwise) {
    EnvSchema schema = EnvSchema::read(table.elf(), version.source.file.filename().string());
    require_agents(version.source.policies, schema, version.source.where);
    return {std::move(version), std::move(schema), std::move(stepwise)};
}
EnvCode code_of(EnvVersion version, const Binary& stepwise) {
    std::promise<Binary> done;
    done.set_value(stepwise);
    return code_of(std::move(version), stepwise, done.get_future().share());
}

// Beside a program that has the table; without it nobody asks for a field by name but where parameters vary.
ProgramText beside_table(ProgramText text, const EnvVersion& version, bool from_pool) {
    if (version.source.varied.empty()) text.defines.push_back("NACELLE_NAMELESS=1");
    return beside_checks(std::move(text), from_pool);
}

}

EnvCode compile_env(std::shared_ptr<RunsOn> on, const EnvSource& source, const CompileWay& way) {
    const EnvVersion version = version_of(on, source, read_closure(source.file));
    const ProgramText whole = with_defines(stepwise_text, version.defines);
    if (way.aside && on->compiler->get_ready_beside(program_source(*on, source.file, whole))) {
        try {
            const Binary table =
                compile_program(*on, source.file, with_defines(table_text, version.defines), way);
            if (same_text(read_closure(source.file), version.files))
                return code_of(version, table,
                               begin_version(on, version.files, whole, way.cancel).share());
        } catch (const std::exception&) {
            // Errors of the table are reported by the whole program, as in other cases.
        }
    }
    return code_of(version, compile_program(*on, source.file, whole,
                                            {.cancel = way.cancel, .draft = way.draft}));
}

bool drafts_aside(const EnvVersion& version) {
    return version.on->compiler->get_ready_beside(
        program_source(*version.on, copied_path(*version.on, version.files),
                       with_defines(stepwise_text, version.defines)));
}

ProgramText beside_checks(ProgramText text, bool from_pool) {
    text.defines.push_back("NACELLE_IS_SOUND=1");
    if (!from_pool) text.defines.push_back("NACELLE_NO_POOL=1");
    return text;
}

EnvCode compile_saved(const EnvVersion& version, const CompileWay& way, bool from_pool,
                      std::atomic<bool>& stop) {
    if (!way.draft || !way.aside) return code_of(version, version.compile_copy(stepwise_text, way));
    CompileWay beside = way;
    beside.cancel = &stop;
    // A pool is filled and restored by the reset's kernel, whoever asks.
    std::future<Binary> step =
                            version.begin_copy(beside_table(step_text, version, from_pool), beside),
                        reset = version.begin_copy(beside_table(reset_text, version, true), beside);
    try {
        // First, since it tells what is wrong with the struct.
        EnvCode code = code_of(version, version.compile_copy(small_text, way));
        code.parts.push_back(step.get());
        code.parts.push_back(reset.get());
        return code;
    } catch (...) {
        stop = true;
        throw;
    }
}

}
