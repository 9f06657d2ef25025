#pragma once
#include "algorithms/policy_gradient/plan/networks.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

namespace torch_learn {

at::Tensor activated(const at::Tensor& x, const std::string& name);

// A hidden layer, or the last one, of which some outputs may not see their inputs.
class Layer final : public torch::nn::Module {
public:
    Layer(learn::Cell cell, int64_t in, int64_t out);

    // The outputs from `first` to `end` are parameters of their own.
    void blind(int64_t first, int64_t end);
    at::Tensor product(const at::Tensor& x) const;
    // `h` is what it remembers.
    at::Tensor forward(const at::Tensor& x, const at::Tensor& h,
                       const std::string& activation) const;
    int64_t memory() const { return learn::remembers(cell_) ? out_ : 0; }
    at::ScalarType number() const { return weights_[0].scalar_type(); }

private:
    learn::Cell cell_;
    int64_t out_;
    std::vector<at::Tensor> weights_, biases_;
    at::Tensor sees_;
};

class Encoder;

// A network: convolutions where there are such, layers, and outputs as they are. Its parameters lie in the order in which
// the kernels of `ppo` have them.
class Layers final : public torch::nn::Module {
public:
    Layers(const learn::Encoder& encoder, const std::vector<int64_t>& widths,
           const std::vector<learn::Cell>& cells, const std::string& activation);

    Layer& last() { return *layers_.back(); }
    at::ScalarType number() const { return layers_.back()->number(); }
    int64_t memory() const;
    // Takes what its layers remember from `before`, from number `at` on, and leaves what they do next.
    at::Tensor forward(const at::Tensor& rows, const at::Tensor& before, int64_t at,
                       std::vector<at::Tensor>& after) const;
    // Of layers that remember nothing; `beside` are numbers that the first one sees behind each row.
    at::Tensor forward(const at::Tensor& rows, const at::Tensor& beside = {}) const;

private:
    std::string activation_;
    std::shared_ptr<Encoder> encoder_;
    std::vector<std::shared_ptr<Layer>> layers_;
};

}
