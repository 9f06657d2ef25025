#include "plugins/torch/models/models.h"

#include <cmath>

namespace torch_learn {

using at::Tensor;

AttentionLevel::AttentionLevel(int64_t width, int64_t heads) : heads_(heads) {
    split_ = register_module("split", torch::nn::Linear(width, 3 * width));
    join_ = register_module("join", torch::nn::Linear(width, width));
    widen_ = register_module("widen", torch::nn::Linear(width, 2 * width));
    narrow_ = register_module("narrow", torch::nn::Linear(2 * width, width));
}

// Products and a softmax, since LibTorch's one kernel for both adds up slopes in no order.
Tensor AttentionLevel::forward(const Tensor& tokens, const Tensor& open) const {
    const auto apply = [](const torch::nn::Linear& layer, const Tensor& x) {
        return at::linear(x, layer->weight, layer->bias);
    };
    const int64_t n = tokens.size(0), count = tokens.size(1), width = tokens.size(2),
                  part = width / heads_;
    const Tensor parts = apply(split_, at::layer_norm(tokens, {width}))
                             .view({n, count, 3, heads_, part})
                             .permute({2, 0, 3, 1, 4});    // [3][n][heads][tokens][part]
    Tensor scores = parts[0].matmul(parts[1].transpose(2, 3)) / std::sqrt(double(part));
    if (open.defined()) scores = scores.masked_fill(open.eq(0).view({n, 1, 1, count}), -1e9);
    const Tensor found = scores.softmax(3).matmul(parts[2]).transpose(1, 2).flatten(2);
    const Tensor x = tokens + apply(join_, found);
    return x + apply(narrow_, at::gelu(apply(widen_, at::layer_norm(x, {width}))));
}

}
