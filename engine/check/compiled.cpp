// Checks by compiling an author's file.
#include "engine/base/error.h"
#include "engine/base/process.h"
#include "engine/check/checks.h"
#include "engine/check/maths_imports.h"
#include "engine/compile/embedded_sdk.h"
#include "engine/env/observed_numbers.h"
#include "engine/jit/author_source.h"
#include "engine/jit/compile_cached.h"
#include "engine/jit/compile_folder.h"
#include "engine/jit/compiler_output.h"
#include "engine/jit/host_toolchain.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

// The warnings of g++ or clang about doubles, without a build.
std::vector<CompilerReport> warnings_of(const fs::path& author) {
    Cache cache(Cache::default_directory());
    const CompileFolder folder(cache.files());
    for (const EmbeddedFile& header : embedded_sdk()) folder.write(header.name, header.text);
    const fs::path unit = folder.path() / "unit.cpp";
    folder.write("unit.cpp", include_line(author) +
                                 "#include <nacelle/programs/stepwise.h>\nNACELLE_STEPWISE()\n");
    const HostToolchain toolchain = find_host_toolchain(cache);
    std::vector<std::string> command = toolchain.words(folder.path().string());
    command.insert(command.end(), {"-std=c++20", "-fsyntax-only", "-Wdouble-promotion",
                                   "-fdiagnostics-color=never", "-I" + folder.path().string()});
    if (!toolchain.clang) command.push_back("-ftrack-macro-expansion=0");
    command.insert(command.end(), {"-x", "c++", unit.string()});
    return parse_gnu_output(run_process(command, nullptr, folder.path().string()).output);
}

std::string size_of(const Header& header, const EnvSchema& schema) {
    std::string text = std::string(header.name) + ": ";
    if (header.is_team) text += std::to_string(header.agents) + " agents, ";
    return text + std::to_string(schema.bytes_per_env()) + " bytes per environment, " +
           std::to_string(observed_numbers(schema, 0)) + " numbers observed";
}

}

// Throws before any check where a parameter is unknown or has another form.
void check_params(const Session& session) {
    const EnvSettings& settings = session.subject().settings;
    ParamValues values(session.schema(),
                       std::vector<std::byte>(session.schema().header().params_size),
                       settings.where);
    for (const ParamEntry& entry : flatten_params(settings.params))
        if (values.field(entry.name).kind != Kind::table) values.set(entry.name, entry.value);
}

Finding check_host_compiler(Session& session) {
    const Binary made = session.compile(Variant::plain());
    session.learn(EnvSchema::read(made.elf(), session.file()));
    check_params(session);
    return passed(size_of(session.schema().header(), session.schema()));
}

Finding check_gpu_compiler(Session& session) {
    std::string architecture = "sm_90";
    try {
        const DeviceChoice gpu = open_device("cuda");
        architecture = gpu.device->info().architecture;
    } catch (const Error&) {
        // Without a GPU: its compiler does not need one, and any architecture shows errors.
    }
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = open_nvrtc(architecture, std::make_shared<Cache>(Cache::default_directory()));
    } catch (const Error& error) {
        return skipped(error.what());
    }
    const Binary made = session.compile({}, std::move(nvrtc));
    const EnvSchema gpu = EnvSchema::read(made.elf(), session.file());
    const std::vector<Field>&here = session.schema().fields(), &there = gpu.fields();
    for (size_t i = 0; i < std::max(here.size(), there.size()); ++i) {
        if (i < here.size() && i < there.size() &&
            std::memcmp(&here[i], &there[i], sizeof(Field)) == 0)
            continue;
        const std::string name = i < here.size() ? here[i].name : there[i].name;
        return refused("the two compilers disagree about " + name,
                       "declare it alike for both: no #if, no type whose size they differ on");
    }
    return passed("NVRTC for " + architecture + "; its table of arrays is the host's");
}

Finding check_float_arithmetic(Session& session) {
    session.doing("the compiler", false);
    const std::vector<SourceFile> closure = read_closure(session.subject().settings.source);
    std::string found;
    int more = 0;
    for (const CompilerReport& report : warnings_of(session.subject().settings.source)) {
        if (report.error || !find_file(closure, report.place.file)) continue;
        if (found.empty())
            found = fs::path(report.place.file).filename().string() + ":" +
                    std::to_string(report.place.line) + ": a float becomes a double";
        else ++more;
    }
    if (found.empty()) return passed("no float becomes a double by accident");
    if (more) found += ", and " + std::to_string(more) + " more";
    return advice(found, "write 0.5f instead of 0.5: a GPU is many times slower with doubles");
}

Finding check_maths(Session& session) {
    const Binary made = session.compile(Variant::plain());
    const std::vector<SourceFile> closure = read_closure(session.subject().settings.source);
    std::string names, use;
    for (const std::string& name : maths_imports(made.elf(), session.file())) {
        const std::string place = line_of_call(closure, name);
        if (place.empty() && is_exact(name)) continue;    // nacelle/math.h's own
        names += (names.empty() ? "" : ", ") + name + place;
        const std::string ours = our_maths(name);
        if (!ours.empty() && use.find(ours) == use.npos) use += (use.empty() ? "" : ", ") + ours;
    }
    if (names.empty()) return passed("no function of libm is called");
    return refused("calls libm: " + names,
                   use.empty()
                       ? "libm's results differ from a GPU's: nacelle/math.h has what is the same "
                         "on both"
                       : "use " + use + ": the same bits on a CPU and a GPU");
}

}
