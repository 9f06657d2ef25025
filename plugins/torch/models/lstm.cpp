#include "plugins/torch/models/models.h"

#include <ATen/core/grad_mode.h>
#include <nacelle/plugin/config.h>

namespace torch_learn {

using at::Tensor;

Lstm::Lstm(const Sizes& sizes, std::string_view settings) {
    nacelle::plugin::Config config(settings);
    width_ = config.integer("width", 64, 1, 4096);
    const int64_t layers = config.integer("layers", 1, 1, 8);
    config.finish();
    enter_ = register_module("enter", torch::nn::Linear(sizes.seen, width_));
    for (int64_t i = 0; i < layers; ++i) {
        cells_.push_back(
            register_module("cell" + std::to_string(i), torch::nn::LSTMCell(width_, width_)));
        // A cell that forgets at first learns nothing of what was long ago (Jozefowicz and others, 2015).
        const at::NoGradGuard no_gradient;
        cells_.back()->bias_ih.narrow(0, width_, width_).fill_(1);
    }
    ends_ = register_module("ends", std::make_shared<Ends>(width_, sizes.outputs));
}

Tensor Lstm::forward(const Tensor& rows, Tensor& memory) {
    Tensor x = enter_(rows).tanh();
    const std::vector<Tensor> before = memory.chunk(2 * int64_t(cells_.size()), 1);
    std::vector<Tensor> after;
    for (size_t i = 0; i < cells_.size(); ++i) {
        auto [h, c] = cells_[i](x, std::make_tuple(before[2 * i], before[2 * i + 1]));
        after.push_back(h);
        after.push_back(c);
        x = h;
    }
    memory = at::cat(after, 1);
    return ends_->forward(x);
}

}
