#include "engine/env/recipe.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/env/kept_source.h"
#include "engine/env/layout_defines.h"
#include "engine/jit/source_watch.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

const ProgramText stepwise_text{.instantiation =
                                    "#include <nacelle/programs/stepwise.h>\nNACELLE_STEPWISE()\n",
                                .headers = {},
                                .defines = {}};

const ProgramText table_text{.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n",
                             .headers = {},
                             .defines = {}};

// The configuration's constants and the names of what varies, as the SDK's macros take them.
std::vector<std::string> baked(const EnvSettings& settings, const std::set<std::string>& varied) {
    std::vector<std::string> known;
    for (const ConstantUse& use : constants_of(settings.source)) known.push_back(use.name);
    for (const auto& [name, value] : settings.constants)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(settings.where,
                        "env.constants." + name + ": " + settings.source.filename().string() +
                            " has no constant '" + name + "'",
                        suggest(name, known));
    std::vector<std::string> defines = layout_defines(settings.constants, varied, settings.where);
    if (settings.strict) defines.push_back(strict_define);
    return defines;
}

// What a policy depends on.
bool is_space(const Field& field) {
    switch (field.role) {
        case Role::action:
        case Role::obs:
        case Role::mask:
        case Role::turn:
        case Role::global: return true;
        default: return false;
    }
}
std::vector<const Field*> spaces_of(const EnvSchema& schema) {
    std::vector<const Field*> found;
    for (const Field& field : schema.fields())
        if (is_space(field)) found.push_back(&field);
    return found;
}
std::string form_of(const Field& field) {
    std::string text = std::string(field.name) + " ";
    if (field.kind == Kind::discrete) text += "one of " + std::to_string(field.choices) + " ";
    text += dtype_name(field.dtype);
    for (uint32_t i = 0; i < field.rank; ++i)
        text += (i ? ", " : " [") + std::to_string(field.dims[i]);
    return text + (field.rank ? "]" : "");
}
bool same_space(const Field& a, const Field& b) {
    return std::strcmp(a.name, b.name) == 0 && a.role == b.role && a.kind == b.kind &&
           a.dtype == b.dtype && a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims) &&
           a.choices == b.choices && a.low == b.low && a.high == b.high;
}

}

EnvCode compile_environment(RunsOn& on, const EnvSettings& settings,
                            const std::set<std::string>& varied, const std::atomic<bool>* cancel,
                            bool draft) {
    EnvCode code{.files = read_closure(settings.source),
                 .defines = baked(settings, varied),
                 .varied = varied,
                 .stepwise = {},
                 .to_come = {}};
    code.stepwise = binary_or_error(compile_program(
        on, settings.source, with_defines(stepwise_text, code.defines), cancel, draft));
    return code;
}

Compiled compile_version(RunsOn& on, const std::vector<SourceFile>& files,
                         const ProgramText& text) {
    const std::filesystem::path place = place_of(on, files);
    std::optional<Compiled> compiled;
    std::exception_ptr wrong;
    try {
        compiled = compile_program(on, place, text, nullptr, false, true);
    } catch (const std::exception&) {
        wrong = std::current_exception();    // the author's file may be away for a moment
    }
    const std::filesystem::path now = place_of(on, files);
    if (now != place) return compile_program(on, now, text);
    if (wrong) std::rethrow_exception(wrong);
    return *std::move(compiled);
}

// What is wrong with a table is told by the program that has all of it, as it is everywhere else.
EnvCode begin_environment(const std::shared_ptr<RunsOn>& on, const EnvSettings& settings,
                          const std::set<std::string>& varied) {
    EnvCode code{.files = read_closure(settings.source),
                 .defines = baked(settings, varied),
                 .varied = varied,
                 .stepwise = {},
                 .to_come = {}};
    const ProgramText whole = with_defines(stepwise_text, code.defines);
    if (!get_ready_beside(*on, settings.source, whole))
        return compile_environment(*on, settings, varied);
    Compiled table = compile_program(*on, settings.source, with_defines(table_text, code.defines),
                                     nullptr, false, true);
    if (std::holds_alternative<Diagnostics>(table) ||
        !same_text(read_closure(settings.source), code.files))
        return compile_environment(*on, settings, varied);
    code.stepwise = std::get<Binary>(std::move(table));
    code.to_come = std::async(std::launch::async, [on, files = code.files, whole] {
                       return compile_version(*on, files, whole);
                   }).share();
    return code;
}

ProgramText with_defines(const ProgramText& text, const std::vector<std::string>& defines) {
    ProgramText whole = text;
    whole.defines.insert(whole.defines.begin(), defines.begin(), defines.end());
    return whole;
}

std::string difference_of_spaces(const EnvSchema& before, const EnvSchema& after) {
    const std::vector<const Field*> old = spaces_of(before), now = spaces_of(after);
    for (size_t i = 0; i < std::max(old.size(), now.size()); ++i) {
        if (i >= now.size()) return form_of(*old[i]) + " is gone";
        if (i >= old.size()) return form_of(*now[i]) + " is new";
        if (!same_space(*old[i], *now[i]))
            return form_of(*old[i]) + " has become " + form_of(*now[i]);
    }
    const Header &was = before.header(), &is = after.header();
    if (was.agents != is.agents || was.groups != is.groups || was.policies != is.policies ||
        std::memcmp(was.group, is.group, sizeof was.group) != 0 ||
        std::memcmp(was.policy, is.policy, sizeof was.policy) != 0)
        return "the agents, their groups or their policies are others";
    return was.spaces == is.spaces ? "" : "a part of the observations or actions is another";
}

}
