#include "plugins/torch/models/model_settings.h"

namespace torch_learn {

using at::Tensor;

Transformer::Transformer(const Sizes& sizes, std::string_view settings) : seen_(sizes.seen) {
    nacelle::plugin::Config config(settings);
    window_ = config.integer("window", 8, 1, 1024);
    const TransformerSettings its = read_transformer(config);
    config.finish();
    enter_ = register_module("enter", torch::nn::Linear(seen_, its.width));
    age_ = register_parameter("age", 0.1 * at::randn({window_, its.width}));
    for (int64_t i = 0; i < its.levels; ++i)
        levels_.push_back(register_module("level" + std::to_string(i),
                                          std::make_shared<AttentionLevel>(its.width, its.heads)));
    ends_ = register_module("ends", std::make_shared<Ends>(its.width, sizes.outputs));
}

// The memory has the rows before, the oldest first, each with a 1 behind it; zeros where the episode had not begun.
Tensor Transformer::forward(const Tensor& rows, Tensor& memory) {
    const int64_t n = rows.size(0);
    const Tensor now = at::cat({rows, at::ones({n, 1}, rows.options())}, 1).unsqueeze(1);
    const Tensor all = at::cat({memory.view({n, window_ - 1, seen_ + 1}), now}, 1);
    Tensor x = enter_(all.narrow(2, 0, seen_)) + age_;
    const Tensor open = all.select(2, seen_);
    for (const auto& level : levels_) x = level->forward(x, open);
    memory = all.narrow(1, 1, window_ - 1).flatten(1);
    return ends_->forward(at::layer_norm(x.select(1, window_ - 1), {x.size(2)}));
}

}
