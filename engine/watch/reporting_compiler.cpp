#include "engine/watch/reporting_compiler.h"

#include <mutex>

namespace nacelle {
namespace {

class ToldCompiler final : public Compiler {
public:
    ToldCompiler(std::unique_ptr<Compiler> inner, std::shared_ptr<ChannelViewer> viewer)
        : inner_(std::move(inner)), viewer_(std::move(viewer)) {}

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        const Told told(*this);
        return inner_->compile(source, cancel);
    }
    bool has_helpers() const override { return inner_->has_helpers(); }
    bool get_ready_beside(const ProgramSource& source) override {
        return inner_->get_ready_beside(source);
    }

private:
    // Several programs compile at the same time: the first that begins is told, and the last that ends.
    struct Told {
        explicit Told(ToldCompiler& compiler) : of(compiler) {
            const std::lock_guard lock(of.mutex_);
            if (of.compiles_++ == 0) of.viewer_->may_take_long();
        }
        ~Told() {
            const std::lock_guard lock(of.mutex_);
            if (--of.compiles_ == 0) of.viewer_->goes_on();
        }
        ToldCompiler& of;
    };

    std::unique_ptr<Compiler> inner_;
    std::shared_ptr<ChannelViewer> viewer_;
    std::mutex mutex_;
    int compiles_ = 0;
};

}

std::unique_ptr<Compiler> reporting_compiler(std::unique_ptr<Compiler> inner,
                                             std::shared_ptr<ChannelViewer> viewer) {
    return std::make_unique<ToldCompiler>(std::move(inner), std::move(viewer));
}

}
