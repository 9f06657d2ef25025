#include "engine/jit/nvrtc.h"

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/jit/compile_cached.h"
#include "engine/jit/compile_helpers.h"
#include "engine/jit/diagnostics.h"
#include "engine/jit/nvrtc_library.h"
#include "engine/jit/standard_headers.h"

namespace nacelle {
namespace {

// The name of the main text in messages; the author's file has its own path.
constexpr const char* unit_name = "kernels";
// The same bits in less time: rounding is decided before the assembler, and the define has kernels call what they
// otherwise have inline or unrolled.
const std::vector<std::string> draft_options{"--ptxas-options=-O0", "-DNACELLE_DRAFT"};

class Program final {
public:
    Program(const NvrtcLibrary& nvrtc, const std::string& text,
            const std::vector<MemoryHeader>& headers)
        : nvrtc_(nvrtc) {
        std::vector<const char*> texts, names;
        for (const MemoryHeader& header : headers) {
            texts.push_back(header.text.c_str());
            names.push_back(header.name.c_str());
        }
        check(nvrtc_.create_program(&program_, text.c_str(), unit_name,
                                    static_cast<int>(headers.size()), texts.data(), names.data()));
    }
    ~Program() { nvrtc_.destroy_program(&program_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void stop_on(const std::atomic<bool>* cancel) {
        if (!cancel || !nvrtc_.set_flow_callback) return;
        const auto callback = [](void* flag, void*) {
            return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0;
        };
        check(nvrtc_.set_flow_callback(program_, callback, const_cast<std::atomic<bool>*>(cancel)));
    }

    nvrtcResult compile(const std::vector<std::string>& options) {
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());
        return nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
    }

    std::string log() const {
        size_t bytes = 0;
        check(nvrtc_.log_size(program_, &bytes));
        std::string text(bytes, '\0');
        if (bytes > 0) check(nvrtc_.log(program_, text.data()));
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    }

    std::string cubin() const {
        size_t bytes = 0;
        check(nvrtc_.cubin_size(program_, &bytes));
        std::string image(bytes, '\0');
        check(nvrtc_.cubin(program_, image.data()));
        return image;
    }

private:
    void check(nvrtcResult result) const {
        if (result != NVRTC_SUCCESS) throw Error("NVRTC", nvrtc_.error_string(result));
    }

    const NvrtcLibrary& nvrtc_;
    nvrtcProgram program_ = nullptr;
};

// Lines are for who profiles a program that runs for long.
const std::string full_option = "-lineinfo";

std::vector<std::string> options_for(const NvrtcLibrary& nvrtc, const std::string& architecture) {
    std::vector<std::string> options{"--gpu-architecture=" + architecture, "-std=c++20",
                                     "-default-device", "-minimal", full_option};
    // A program that is not in our cache is not in that of NVRTC either.
    if (nvrtc.has_cache()) options.push_back("--no-cache");
    return options;
}

class Nvrtc final : public Compiler {
public:
    Nvrtc(NvrtcLibrary library, std::string architecture, std::shared_ptr<Cache> cache,
          std::shared_ptr<CompileHelpers> helpers)
        : library_(std::move(library)),
          architecture_(std::move(architecture)),
          cache_(std::move(cache)),
          helpers_(std::move(helpers)),
          options_(options_for(library_, architecture_)) {}

    std::string identity() const override {
        std::string text = "nvrtc " + library_.build();
        for (const std::string& option : options_) text += " " + option;
        // NVRTC reads these headers too.
        for (const MemoryHeader& header : standard_headers())
            text += "\n" + header.name + "\n" + header.text;
        return text;
    }

    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        const std::string full = identity();
        std::string draft = full;
        for (const std::string& option : draft_options) draft += " " + option;
        return compile_cached(*cache_, full, draft, source, cancel,
                              [&](const std::vector<SourceFile>& closure, const std::string& key) {
                                  auto made = made_aside(key, source, cancel);
                                  return made ? *std::move(made) : build(source, closure, cancel);
                              });
    }

    bool has_helpers() const override { return helpers_ != nullptr; }
    bool get_ready_beside(const ProgramSource& source) override {
        if (!helpers_ || find_compiled(*cache_, identity(), source)) return false;
        helpers_->start();
        return true;
    }

private:
    // A helper compiles it where there is one. The first uncached program starts all helpers.
    std::optional<Compiled> made_aside(const std::string& key, const ProgramSource& source,
                                       const std::atomic<bool>* cancel) const {
        if (!helpers_) return std::nullopt;
        helpers_->start();
        if (!source.aside || key.empty()) return std::nullopt;
        helpers_->compile(architecture_, source, cancel);
        if (cancel && *cancel) throw_cancelled(source);
        auto made = find_compiled(*cache_, key);
        if (made) made->from_cache = false;
        return made;
    }
    Compiled build(const ProgramSource& source, const std::vector<SourceFile>& closure,
                   const std::atomic<bool>* cancel) const {
        std::vector<MemoryHeader> headers = source.headers;
        for (MemoryHeader& header : standard_headers()) headers.push_back(std::move(header));
        Program program(library_, include_line(source.author) + source.instantiation, headers);
        program.stop_on(cancel);

        std::vector<std::string> options = options_;
        for (const std::string& define : source.defines) options.push_back("-D" + define);
        options.insert(options.end(), source.options.begin(), source.options.end());
        if (source.draft) {
            std::erase(options, full_option);
            options.insert(options.end(), draft_options.begin(), draft_options.end());
        }
        const nvrtcResult result = program.compile(options);
        if (cancel && *cancel) throw_cancelled(source);

        std::string log = valid_utf8(program.log());
        const CompiledText text{closure, "", unit_name, &source};
        const std::vector<CompilerReport> reports = parse_nvrtc_log(log);
        if (result == NVRTC_SUCCESS)
            return Binary{.image = program.cubin(), .warnings = author_warnings(reports, text)};
        if (result == NVRTC_ERROR_COMPILATION) return diagnose(reports, std::move(log), text);
        throw Error("NVRTC " + library_.build(),
                    std::string(library_.error_string(result)) + (log.empty() ? "" : ": " + log));
    }

    NvrtcLibrary library_;
    std::string architecture_;
    std::shared_ptr<Cache> cache_;
    std::shared_ptr<CompileHelpers> helpers_;
    std::vector<std::string> options_;
};

}

std::unique_ptr<Compiler> open_nvrtc_from(const std::vector<std::filesystem::path>& places,
                                          std::string architecture, std::shared_ptr<Cache> cache,
                                          std::shared_ptr<CompileHelpers> helpers) {
    NvrtcLibrary library(places, architecture);
    return std::make_unique<Nvrtc>(std::move(library), std::move(architecture), std::move(cache),
                                   std::move(helpers));
}

void warm_nvrtc() {
    const std::string architecture = "sm_90";    // what is done before is the same for all
    try {
        const NvrtcLibrary library(nvrtc_places(), architecture);
        Program(library, "__global__ void nothing() {}", {})
            .compile(options_for(library, architecture));
    } catch (const Error&) {}
}

std::unique_ptr<Compiler> open_nvrtc(std::string architecture, std::shared_ptr<Cache> cache,
                                     std::shared_ptr<CompileHelpers> helpers) {
    return open_nvrtc_from(nvrtc_places(), std::move(architecture), std::move(cache),
                           std::move(helpers));
}

}
