#pragma once
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <nacelle/plugin/manifest.h>
#include <string>
#include <torch/nn/module.h>
#include <torch/version.h>
#include <vector>

// A network of your own for the learners on LibTorch, offered by a plugin:
//
//     struct Mine : nacelle::torch_models::Model {
//         static constexpr const char* name = "mine";
//         Mine(const nacelle::torch_models::Sizes& sizes, std::string_view settings);    // a JSON object
//         at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) override;
//     };
//     NACELLE_PLUGIN("example.mine", "1.0.0", "A network", nacelle::torch_models::Offer<Mine>)
//
// Both sides pass objects of LibTorch's C++ interface, so both are built with the same version of it.
namespace nacelle::torch_models {

// A field of what an agent sees: where its numbers lie in a row, and of an Array its dimensions.
struct Part {
    std::string name;
    int64_t first, count;
    std::vector<int64_t> sizes;
};
struct Sizes {
    int64_t seen;    // numbers of a row
    int64_t
        outputs;    // scores of all choices, means of real numbers, logarithms of their standard deviations
    std::vector<Part> parts;
};

// A policy's networks. Their parameters become a part of checkpoints, in the order of parameters().
class Model : public torch::nn::Module {
public:
    // What a row remembers from step to step, in floats; zeros where an episode begins. None: 0.
    virtual int64_t memory() const { return 0; }
    // Whether a GPU may have its work in a graph: it asks for no number, and does the same whatever the numbers are.
    virtual bool is_captured() const { return true; }
    // Normalised rows [n][seen] to [n][outputs + 1], the value last. `memory` is [n][memory()], and what it is set to is
    // what the rows remember next.
    virtual at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) = 0;
};

// What a plugin offers under the kind "torch_model/1".
struct Table {
    uint32_t size;
    const char* version;    // of LibTorch
    // May throw. The module's first parameters come from LibTorch's random numbers, which the learner seeds.
    std::shared_ptr<Model> (*make)(const Sizes& sizes, const std::string& settings);
};

template <class T> class Offer final {
public:
    static constexpr const char* kind = "torch_model/1";
    static constexpr const char* name = T::name;
    static const void* table() { return &functions; }

private:
    static std::shared_ptr<Model> make(const Sizes& sizes, const std::string& settings) {
        return std::make_shared<T>(sizes, std::string_view(settings));
    }
    [[gnu::visibility("hidden")]] static constexpr Table functions{sizeof(Table), TORCH_VERSION,
                                                                   make};
};

}
