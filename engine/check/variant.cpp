#include "engine/check/variant.h"

#include "engine/jit/host_toolchain.h"

namespace nacelle {
namespace {

// -O1 instead of -O3: the same bits (no option here lets a compiler change arithmetic), in less
// time.
const std::vector<std::string> quickly = {"-O1"};

class VariantCompiler final : public Compiler {
public:
    VariantCompiler(std::unique_ptr<Compiler> inner, Variant variant, CompileNews news)
        : inner_(std::move(inner)), variant_(std::move(variant)), news_(std::move(news)) {}

    std::string identity() const override { return inner_->identity(); }

    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        ProgramSource changed = source;
        changed.defines.insert(changed.defines.end(), variant_.defines.begin(),
                               variant_.defines.end());
        changed.options.insert(changed.options.end(), variant_.options.begin(),
                               variant_.options.end());
        if (news_) news_(nullptr);
        Compiled result = inner_->compile(changed, cancel);
        if (const auto* const binary = std::get_if<Binary>(&result); binary && news_) news_(binary);
        return result;
    }

private:
    std::unique_ptr<Compiler> inner_;
    Variant variant_;
    CompileNews news_;
};

}

Variant Variant::checked() {
    return {.defines = {"NACELLE_CHECKED"},
            .options = {"-O1", "-g", "-ftrivial-auto-var-init=pattern"},
            .bounds = true};
}
Variant Variant::reversed() { return {.defines = {"NACELLE_REVERSED"}, .options = quickly}; }
Variant Variant::emulated(int lanes) {
    Variant variant{.defines = {"NACELLE_EMULATE"}, .options = quickly};
    if (lanes) variant.defines.push_back("NACELLE_TEAM_LANES=" + std::to_string(lanes));
    return variant;
}
Variant Variant::quick() { return {.options = quickly}; }

std::shared_ptr<RunsOn> open_variant(BackendSettings settings, const Variant& variant,
                                     CompileNews news, std::unique_ptr<Compiler> other) {
    settings.threads = variant.threads;
    auto on = open_backend(settings);
    Variant whole = variant;
    if (variant.bounds) {
        const auto checks = bounds_checks(find_host_toolchain(*on->cache).clang);
        whole.options.insert(whole.options.end(), checks.begin(), checks.end());
    }
    on->compiler = std::make_unique<VariantCompiler>(
        other ? std::move(other) : std::move(on->compiler), std::move(whole), std::move(news));
    return on;
}

}
