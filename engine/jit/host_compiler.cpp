#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/process.h"
#include "engine/jit/cache_trim.h"
#include "engine/jit/compile_cached.h"
#include "engine/jit/diagnostics.h"
#include "engine/jit/host_toolchain.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

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
        // A sanitized engine sees into environments too, where its runtime library is the same. -Og
        // costs least in sum: -O1 compiles twice as long, and with -O0 learners run three times as long.
#ifdef __clang__
    constexpr bool built_by_clang = true;
#else
    constexpr bool built_by_clang = false;
#endif
    if (clang != built_by_clang) return flags;
    flags.insert(flags.end(), {"-Og", "-fsanitize=" NACELLE_SANITIZE, "-fno-sanitize-recover=all",
                               "-fno-omit-frame-pointer"});
    // What the address sanitizer reports by itself is not tested twice at each access: half the time.
    if (std::string_view(NACELLE_SANITIZE) == "address,undefined")
        flags.push_back("-fno-sanitize=null,object-size,pointer-overflow");
#endif
    return flags;
}

// Half the time, and the same bits: optimising moves no rounding where nothing is contracted or reordered.
std::vector<std::string> draft_of(std::vector<std::string> flags) {
    std::replace(flags.begin(), flags.end(), std::string("-O3"), std::string("-O1"));
    flags.push_back("-DNACELLE_DRAFT");
    return flags;
}

// A file for a compiler's output, removed in every case.
class Output final {
public:
    explicit Output(const fs::path& directory)
        : path_((directory / building_prefix).string() + "XXXXXX") {
        const int file = ::mkstemp(path_.data());
        if (file < 0) throw Error(directory.string(), "no file can be made here");
        ::close(file);
    }
    ~Output() { ::unlink(path_.c_str()); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// Writes the headers under a directory named by their content; each file is whole or not there.
fs::path write_headers(Cache& cache, const std::vector<MemoryHeader>& headers) {
    Hash hash;
    for (const MemoryHeader& header : headers) hash.add(header.name).add(header.text);
    const fs::path root = cache.files() / ("sdk-" + hash.hex());
    make_private_directory(root);
    for (const MemoryHeader& header : headers) {
        const fs::path name = fs::path(header.name).lexically_normal();
        if (name.empty() || name.is_absolute() || *name.begin() == "..")
            throw Error(header.name, "is no header's name");
        make_private_directory((root / name).parent_path());
        std::error_code trouble;
        if (fs::file_size(root / name, trouble) != header.text.size() || trouble)
            write_file(root / name, header.text);
    }
    std::error_code ignored;    // used now, for the cache's bound
    fs::last_write_time(root, fs::file_time_type::clock::now(), ignored);
    return root;
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
            compile_as_wanted(*cache_, identity(), identity_with(draft_flags_), source, cancel,
                              [&](const std::vector<SourceFile>& closure) {
                                  return build(source, closure, flags, cancel);
                              });
        if (auto* binary = std::get_if<Binary>(&compiled))
            move_to_file(*binary, source.author.stem().string());
        return compiled;
    }

private:
    std::string identity_with(const std::vector<std::string>& flags) const {
        std::string text = toolchain_.build + "\n";
        for (const std::string& flag : flags) text += " " + flag;
        return text;
    }

    BuildResult build(const ProgramSource& source, const std::vector<SourceFile>& closure,
                      const std::vector<std::string>& flags, const std::atomic<bool>* cancel) {
        const fs::path headers = write_headers(*cache_, source.headers);
        const std::string unit =
            cache_
                ->materialise("unit.cpp", include_line(source.author) + source.instantiation + "\n")
                .string();
        const Output output(cache_->files());

        // The messages are parsed: always in English.
        std::vector<std::string> command = {"/usr/bin/env", "LC_ALL=C.UTF-8"};
        command.insert(command.end(), toolchain_.command.begin(), toolchain_.command.end());
        command.insert(command.end(), flags.begin(), flags.end());
        command.push_back("-I" + headers.string());
        for (const std::string& define : source.defines) command.push_back("-D" + define);
        command.insert(command.end(), source.options.begin(), source.options.end());
        command.insert(command.end(), {"-x", "c++", unit, "-o", output.path()});
        ProcessResult result = run_process(command, cancel);
        if (result.cancelled || (cancel && *cancel)) throw_cancelled(source);
        if (result.status == 0) return BuiltImage{read_file(output.path()), ""};
        const std::vector<CompilerReport> reports = parse_gnu_output(result.output);
        return diagnose(reports, std::move(result.output), {closure, headers.string(), unit});
    }

    // The image becomes the path of a file with these bytes.
    void move_to_file(Binary& binary, const std::string& stem) {
        const std::string_view bytes(reinterpret_cast<const char*>(binary.image.data()),
                                     binary.image.size());
        const std::string path = cache_->materialise(stem + ".so", bytes).string();
        const auto* begin = reinterpret_cast<const std::byte*>(path.data());
        binary.image.assign(begin, begin + path.size());
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
