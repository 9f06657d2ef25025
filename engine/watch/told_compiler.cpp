#include "engine/watch/told_compiler.h"

namespace nacelle {
namespace {

class ToldCompiler final : public Compiler {
public:
    ToldCompiler(std::unique_ptr<Compiler> inner, std::shared_ptr<LineViewer> viewer)
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
    std::shared_ptr<LineViewer> viewer_;
};

}

std::unique_ptr<Compiler> told_compiler(std::unique_ptr<Compiler> inner,
                                        std::shared_ptr<LineViewer> viewer) {
    return std::make_unique<ToldCompiler>(std::move(inner), std::move(viewer));
}

}
