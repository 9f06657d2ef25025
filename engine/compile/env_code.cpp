#include "engine/compile/env_code.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/compile/compilable_path.h"
#include "engine/compile/layout_defines.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

const ProgramText stepwise_text{.instantiation =
                                    "#include <nacelle/programs/stepwise.h>\nNACELLE_STEPWISE()\n",
                                .headers = {},
                                .defines = {}};

const ProgramText table_text{.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n",
                             .headers = {},
                             .defines = {}};

// The constants of the configuration and the names of varied parameters, as the SDK's macros take them.
std::vector<std::string> baked(const EnvSource& source) {
    std::vector<std::string> known;
    for (const ConstantUse& use : constants_of(source.file)) known.push_back(use.name);
    for (const auto& [name, value] : source.constants)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(source.where,
                        "env.constants." + name + ": " + source.file.filename().string() +
                            " has no constant '" + name + "'",
                        suggest(name, known));
    std::vector<std::string> defines =
        layout_defines(source.constants, source.varied, source.where);
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
                       const CompileWay& way) {
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

PendingProgram EnvCode::begin(const ProgramText& text, const std::atomic<bool>* cancel) const {
    return {text, files, begin_version(on, files, with_defines(text, defines), cancel)};
}

EnvCode compile_env(std::shared_ptr<RunsOn> on, const EnvSource& source, const CompileWay& way) {
    const std::vector<SourceFile> files = read_closure(source.file);
    const std::vector<std::string> defines = baked(source);
    const ProgramText whole = with_defines(stepwise_text, defines);
    const auto code = [&](const Binary& table, std::shared_future<Binary> stepwise) {
        EnvSchema schema = EnvSchema::read(table.elf(), source.file.filename().string());
        return EnvCode{on, source, files, defines, std::move(schema), std::move(stepwise)};
    };
    if (way.aside && on->compiler->get_ready_beside(program_source(*on, source.file, whole))) {
        try {
            const Binary table =
                compile_program(*on, source.file, with_defines(table_text, defines), way);
            if (same_text(read_closure(source.file), files))
                return code(table, begin_version(on, files, whole, way.cancel).share());
        } catch (const std::exception&) {
            // Errors of the table are reported by the whole program, as in other cases.
        }
    }
    const Binary made = compile_program(*on, source.file, whole,
                                        {.cancel = way.cancel, .draft = way.draft, .aside = false});
    std::promise<Binary> done;
    done.set_value(made);
    return code(made, done.get_future().share());
}

}
