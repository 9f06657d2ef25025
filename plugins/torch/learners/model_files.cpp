#include "plugins/torch/learners/model_files.h"

#include "algorithms/common/settings.h"

#include <filesystem>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/script.h>

namespace torch_learn {
namespace {

using at::Tensor;
using nacelle::torch_models::Model;

// Opens a file by what `make` does.
template <class Make>
std::shared_ptr<Model> opened(const std::string& path, const std::string& where, Make make) {
    if (!std::filesystem::is_regular_file(path)) learn::wrong(where, "there is no file " + path);
    try {
        return make();
    } catch (const std::exception& error) {
        // Behind the first line are addresses in LibTorch.
        const std::string why = error.what();
        learn::wrong(where, path + " cannot be read: " + why.substr(0, why.find('\n')));
    }
}

class Script final : public Model {
public:
    explicit Script(torch::jit::Module module) : module_(std::move(module)) {
        int64_t number = 0;
        for (const Tensor& parameter : module_.parameters())
            register_parameter("parameter" + std::to_string(number++), parameter);
        number = 0;
        for (const Tensor& buffer : module_.buffers())
            register_buffer("buffer" + std::to_string(number++), buffer);
        if (module_.hasattr("memory")) memory_ = module_.attr("memory").toInt();
    }
    int64_t memory() const override { return memory_; }
    bool is_captured() const override { return false; }    // nobody knows what it does
    Tensor forward(const Tensor& rows, Tensor& memory) override {
        if (memory_ == 0) return module_.forward({rows}).toTensor();
        const auto made = module_.forward({rows, memory}).toTuple();
        memory = made->elements().at(1).toTensor();
        return made->elements().at(0).toTensor();
    }

private:
    torch::jit::Module module_;
    int64_t memory_ = 0;
};

class Package final : public Model {
public:
    explicit Package(const std::string& path) : loader_(path) {}
    bool is_captured() const override { return false; }
    Tensor forward(const Tensor& rows, Tensor&) override { return loader_.run({rows}).at(0); }

private:
    torch::inductor::AOTIModelPackageLoader loader_;
};

}

std::shared_ptr<Model> open_script(const std::string& path, const std::string& where) {
    return opened(path, where, [&] { return std::make_shared<Script>(torch::jit::load(path)); });
}
std::shared_ptr<Model> open_package(const std::string& path, const std::string& where) {
    return opened(path, where, [&] { return std::make_shared<Package>(path); });
}

}
