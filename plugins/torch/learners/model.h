#pragma once
#include <ATen/ATen.h>
#include <cstdint>
#include <torch/nn/module.h>

namespace torch_learn {

// A policy's networks. Its parameters become a part of checkpoints, in the order of parameters().
class Model : public torch::nn::Module {
public:
    // What a row remembers from step to step, in floats; zeros where an episode begins. None: 0.
    virtual int64_t memory() const { return 0; }
    // Normalised rows [n][seen] to [n][outputs + 1], the value last. `memory` is [n][memory()], and what it is set to is
    // what the rows remember next.
    virtual at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) = 0;
};

}
