#include "plugins/torch/learners/model_files.h"

#include "algorithms/policy_gradient/settings/settings.h"

#include <caffe2/serialize/inline_container.h>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/script.h>

namespace torch_learn {
namespace {

using at::Tensor;
using nacelle::torch_models::Model;
namespace fs = std::filesystem;

// Opens a file by what `make` does.
template <class Make>
std::shared_ptr<Model> opened(const std::string& path, const std::string& where, Make make) {
    if (!std::filesystem::is_regular_file(path)) learn::wrong(where, "there is no file " + path);
    try {
        return make();
    } catch (const std::exception& error) {
        // The lines after the first one with text are addresses in LibTorch.
        const std::string why = error.what();
        const size_t from = std::min(why.find_first_not_of('\n'), why.size());
        learn::wrong(where, path + " cannot be read: " +
                                (from < why.size() ? why.substr(from, why.find('\n', from) - from)
                                                   : "LibTorch gives no reason"));
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

class TemporaryFolder final {
public:
    TemporaryFolder() : name_(fs::temp_directory_path() / "nacelle-model-XXXXXX") {
        if (!::mkdtemp(name_.data()))
            throw std::runtime_error("no folder can be made for " + name_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(name_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& name() const { return name_; }

private:
    std::string name_;
};

// A package's files in a temporary folder of their own. The loader of LibTorch leaves a folder after a failure.
class UnpackedPackage final {
public:
    explicit UnpackedPackage(const std::string& path) {
        const std::string within = "data/aotinductor/model/";
        caffe2::serialize::PyTorchStreamReader package(path);
        for (const std::string& record : package.getAllRecords()) {
            if (!record.starts_with(within)) continue;
            const fs::path file = folder() / fs::path(record).filename();
            const auto [data, size] = package.getRecord(record);
            std::ofstream(file, std::ios::binary)
                .write(static_cast<const char*>(data.get()), std::streamsize(size))
                .flush();
            if (file.extension() == ".so") library_ = file;
        }
        if (library_.empty()) throw std::runtime_error("it has no compiled library of a 'model'");
    }

    fs::path folder() const { return folder_.name(); }
    const fs::path& library() const { return library_; }

private:
    TemporaryFolder folder_;
    fs::path library_;
};

// A package's library wants libtorch.so, which the loader finds only if it is open: LibTorch lies in no folder that
// the loader searches.
void open_libtorch() {
    Dl_info torch{};
    if (::dladdr(reinterpret_cast<void*>(&torch::inductor::getAOTIModelRunnerRegistry), &torch))
        ::dlopen((fs::path(torch.dli_fname).parent_path() / "libtorch.so").c_str(), RTLD_LAZY);
}

std::unique_ptr<torch::inductor::AOTIModelContainerRunner> runner_of(const UnpackedPackage& package,
                                                                     const std::string& path) {
    const auto metadata =
        torch::inductor::AOTIModelPackageLoader::load_metadata_from_package(path, "model");
    const auto device = metadata.find("AOTI_DEVICE_KEY");
    open_libtorch();
    const std::string name = device == metadata.end() ? "cpu" : device->second;
    const auto& makers = torch::inductor::getAOTIModelRunnerRegistry();
    const auto make = makers.find(name);
    if (make == makers.end()) throw std::runtime_error("it is for the device " + name);
    return make->second(package.library(), 1, name, package.folder(), false);
}

class Package final : public Model {
public:
    explicit Package(const std::string& path) : files_(path), runner_(runner_of(files_, path)) {}
    bool is_captured() const override { return false; }
    Tensor forward(const Tensor& rows, Tensor&) override { return runner_->run({rows}).at(0); }

private:
    UnpackedPackage files_;
    std::unique_ptr<torch::inductor::AOTIModelContainerRunner> runner_;
};

}

std::shared_ptr<Model> open_script(const std::string& path, const std::string& where) {
    return opened(path, where, [&] { return std::make_shared<Script>(torch::jit::load(path)); });
}
std::shared_ptr<Model> open_package(const std::string& path, const std::string& where) {
    return opened(path, where, [&] { return std::make_shared<Package>(path); });
}

}
