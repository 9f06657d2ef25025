#include "engine/watch/reporting_compiler.h"

namespace nacelle {
namespace {

class ToldCompiler final : public Compiler {
public:
    ToldCompiler(std::unique_ptr<Compiler> inner, std::shared_ptr<ChannelViewer> viewer)
        : inner_(std::move(inner)), viewer_(std::move(viewer)) {}

    std::string identity() const override { return inner_->identity(); }
    Compiled compile(const ProgramSource& source, const std::atomic<bool>* cancel) override {
        viewer_->may_take_long();
        Compiled made = inner_->compile(source, cancel);
        viewer_->goes_on();
        return made;
    }
    bool get_ready_beside(const ProgramSource& source) override {
        return inner_->get_ready_beside(source);
    }

private:
    std::unique_ptr<Compiler> inner_;
    std::shared_ptr<ChannelViewer> viewer_;
};

}

std::unique_ptr<Compiler> reporting_compiler(std::unique_ptr<Compiler> inner,
                                             std::shared_ptr<ChannelViewer> viewer) {
    return std::make_unique<ToldCompiler>(std::move(inner), std::move(viewer));
}

}
