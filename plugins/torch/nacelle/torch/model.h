#pragma once
#include <ATen/ATen.h>
#include <cstdint>
#include <memory>
#include <torch/nn/module.h>
#include <torch/version.h>
// A model of your own for the learners on LibTorch: docs/torch.md.

namespace nacelle {

// What an environment asks of a policy's model.
struct ModelSizes {
    int64_t seen;       // numbers of a row: an observation's, and behind them the elements of its Arrays
    int64_t outputs;    // scores of choices and means, part by part; then logarithms of deviations
};

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
