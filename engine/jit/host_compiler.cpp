#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/jit/compile_cached.h"
#include "engine/jit/compile_folder.h"
#include "engine/jit/diagnostics.h"
#include "engine/jit/host_toolchain.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace nacelle {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> flags_for(bool clang) {
    std::vector<std::string> flags = {"-std=c++20",
                                      "-O3",
                                      "-march=native",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-trapping-math",
                                      "-fPIC",
                                      "-shared",
                                      "-fvisibility=hidden",
                                      "-fdiagnostics-color=never",
                                      "-ftemplate-backtrace-limit=0",
                                      "-w"};
#if defined(__x86_64__)
    // Compilers take half of a register of 512 bits where they tune for an Intel that has them: that is
    // 5 to 25 % of the rate of environments, and a 15th of that of learners, whose vectors are whole ones.
    flags.emplace_back("-mprefer-vector-width=512");
#endif
    // A unique symbol would keep an old version of an environment in the process for good; without
    // the last one g++ points at a macro's definition, not at the author's line that uses it.
    if (!clang) flags.insert(flags.end(), {"-fno-gnu-unique", "-ftrack-macro-expansion=0"});
#ifdef NACELLE_SANITIZE
        // A sanitized engine sees into environments too, where its runtime library is the same. Of g++ -Og
        // costs least in sum: -O1 compiles twice as long, and with -O0 learners run three times as long. To
        // clang -Og is -O1, and -O0 compiles in a quarter of its time.
#ifdef __clang__
    constexpr bool built_by_clang = true;
#else
    constexpr bool built_by_clang = false;
#endif
    // Tests of what only runs environments take those that the plain build's tests have compiled.
    if (clang != built_by_clang || std::getenv("NACELLE_UNINSTRUMENTED")) return flags;
    flags.insert(flags.end(), {clang ? "-O0" : "-Og", "-fsanitize=" NACELLE_SANITIZE,
                               "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"});
    // Leaves out the checks that the address sanitizer makes anyway: half the time.
    if (std::string_view(NACELLE_SANITIZE) == "address,undefined")
        flags.push_back("-fno-sanitize=null,object-size,pointer-overflow");
    // A type that the engine and an environment both have is two types to clang, each hidden in its own file.
    if (clang) flags.push_back("-fno-sanitize=function");
#endif
    return flags;
}

// Half the compile time with the same bits: optimisation changes no rounding where nothing is contracted or
// reordered.
std::vector<std::string> draft_of(std::vector<std::string> flags) {
    std::replace(flags.begin(), flags.end(), std::string("-O3"), std::string("-O1"));
    flags.push_back("-DNACELLE_DRAFT");
    return flags;
}

// Writes the SDK's headers from memory: older files on the disk may have been changed.
void write_headers(const CompileFolder& work_folder, const std::vector<MemoryHeader>& headers) {
    for (const MemoryHeader& header : headers)
        work_folder.write(fs::path("sdk") / header.name, header.text);
}

bool is_for_want_of_space(const std::string& output) {
    return output.find("No space left on device") != output.npos ||
           output.find("Disk quota exceeded") != output.npos;
}

class HostCompiler final : public Compiler {
public:
    explicit HostCompiler(std::shared_ptr<Cache> cache)
        : cache_(std::move(cache)),
          toolchain_(find_host_toolchain(*cache_)),
          flags_(flags_for(toolchain_.clang)),
          draft_flags_(draft_of(flags_)) {}

    std::string identity() const override { return identity_with(flags_); }

    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        const std::vector<std::string>& flags = source.draft ? draft_flags_ : flags_;
        Compiled compiled =
            compile_cached(*cache_, identity(), identity_with(draft_flags_), source, cancel,
                           [&](const std::vector<SourceFile>& closure, const std::string&) {
                               return build(source, closure, flags, cancel);
                           });
        if (auto* binary = std::get_if<Binary>(&compiled))
            move_to_file(*binary,
                         source.author.empty() ? "program" : source.author.stem().string());
        return compiled;
    }

private:
    std::string identity_with(const std::vector<std::string>& flags) const {
        std::string text = toolchain_.build + "\n";
        for (const std::string& flag : flags) text += " " + flag;
        return text;
    }

    // In the cache's folder, or among temporary files where that disk is full or fails.
    Compiled build(const ProgramSource& source, const std::vector<SourceFile>& closure,
                   const std::vector<std::string>& flags, const std::atomic<bool>* cancel) {
        if (cache_->trouble().empty()) {
            try {
                if (auto built = build_in(cache_->files(), source, closure, flags, cancel))
                    return *std::move(built);
            } catch (const Error&) {
                if (cancel && *cancel) throw;
            }
        }
        if (auto built = build_in(Cache::private_files(), source, closure, flags, cancel))
            return *std::move(built);
        throw Error(Cache::private_files().string(), "the disk is full",
                    "set TMPDIR to a directory on another one");
    }

    // Nothing where the folder has no room for the output of the compiler.
    std::optional<Compiled> build_in(const fs::path& place, const ProgramSource& source,
                                     const std::vector<SourceFile>& closure,
                                     const std::vector<std::string>& flags,
                                     const std::atomic<bool>* cancel) {
        const CompileFolder work_folder(place);
        write_headers(work_folder, source.headers);
        work_folder.write("unit.cpp", include_line(source.author) + source.instantiation + "\n");
        const std::string folder = work_folder.path().string(), headers = folder + "/sdk",
                          unit = folder + "/unit.cpp", output = folder + "/unit.so";

        // Temporary files of the compiler go with the folder, whose name changes each time and must not show in the bytes.
        std::vector<std::string> command = toolchain_.words(folder);
        command.insert(command.end(), flags.begin(), flags.end());
        command.insert(command.end(), {"-pipe", "-ffile-prefix-map=" + folder + "=."});
        if (!toolchain_.clang) command.emplace_back("-fmax-errors=500");
        command.push_back("-I" + headers);
        for (const std::string& define : source.defines) command.push_back("-D" + define);
        command.insert(command.end(), source.options.begin(), source.options.end());
        command.insert(command.end(), {"-x", "c++", unit, "-o", output});
        ProcessResult result = run_process(command, cancel, folder);
        if (result.cancelled || (cancel && *cancel)) throw_cancelled(source);
        if (result.status == 0) return Binary{.image = read_file(output)};
        if (is_for_want_of_space(result.output)) return std::nullopt;
        std::string said = valid_utf8(result.output);
        const std::vector<CompilerReport> reports = parse_gnu_output(said);
        return diagnose(reports, std::move(said), {closure, headers, unit, &source});
    }

    // Replaces the image by the path of a file with these bytes.
    void move_to_file(Binary& binary, const std::string& stem) {
        binary.image = cache_->materialise(stem + ".so", binary.image).string();
        binary.is_path = true;
    }

    std::shared_ptr<Cache> cache_;
    HostToolchain toolchain_;
    std::vector<std::string> flags_, draft_flags_;
};

}

std::unique_ptr<Compiler> open_host_compiler(std::shared_ptr<Cache> cache) {
    return std::make_unique<HostCompiler>(std::move(cache));
}

}
