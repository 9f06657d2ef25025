// What the compilers make of an author's file.
#include "engine/base/error.h"
#include "engine/base/process.h"
#include "engine/check/checks.h"
#include "engine/check/maths_imports.h"
#include "engine/env/embedded_sdk.h"
#include "engine/jit/compile_cached.h"
#include "engine/jit/compiler_output.h"
#include "engine/jit/host_toolchain.h"
#include "engine/jit/scan.h"
#include "engine/jit/scratch.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

// What g++ or clang says with warnings of doubles, and nothing built.
std::vector<CompilerReport> warnings_of(const fs::path& author) {
    Cache cache(Cache::default_directory());
    const Scratch scratch(cache.files());
    for (const EmbeddedFile& header : embedded_sdk()) scratch.write(header.name, header.text);
    const fs::path unit = scratch.path() / "unit.cpp";
    scratch.write("unit.cpp", include_line(author) +
                                  "#include <nacelle/programs/stepwise.h>\nNACELLE_STEPWISE()\n");
    const HostToolchain toolchain = find_host_toolchain(cache);
    std::vector<std::string> command = {"/usr/bin/env", "LC_ALL=C.UTF-8",
                                        "TMPDIR=" + scratch.path().string()};
    command.insert(command.end(), toolchain.command.begin(), toolchain.command.end());
    command.insert(command.end(), {"-std=c++20", "-fsyntax-only", "-Wdouble-promotion",
                                   "-fdiagnostics-color=never", "-I" + scratch.path().string()});
    if (!toolchain.clang) command.push_back("-ftrack-macro-expansion=0");
    command.insert(command.end(), {"-x", "c++", unit.string()});
    return parse_gnu_output(run_process(command, nullptr, scratch.path().string()).output);
}

bool is_author_file(const std::vector<SourceFile>& closure, const std::string& file) {
    return std::any_of(closure.begin(), closure.end(),
                       [&](const SourceFile& one) { return one.path == file; });
}

std::string size_of(const Header& header, const EnvSchema& schema) {
    std::string text = std::string(header.name) + ": ";
    if (header.is_team) text += std::to_string(header.agents) + " agents, ";
    return text + std::to_string(schema.bytes_per_env()) + " bytes per environment, " +
           std::to_string(header.group[0].obs_width) + " numbers observed";
}

}

// A parameter that the environment does not have, or of another form: said before any check runs.
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
        // No GPU: its compiler needs none, and any architecture shows what it refuses.
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
        if (report.error || !is_author_file(closure, report.place.file)) continue;
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
        const std::string place = place_of_call(closure, name);
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
