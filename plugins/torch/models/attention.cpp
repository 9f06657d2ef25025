#include "plugins/torch/models/model_settings.h"

namespace torch_learn {

using at::Tensor;

Attention::Attention(const Sizes& sizes, std::string_view settings) {
    nacelle::plugin::Config config(settings);
    const TransformerSettings its = read_transformer(config);
    config.finish();
    int64_t own = 0;
    for (const Part& part : sizes.parts) {
        const bool is_entities = part.sizes.size() == 2;
        (is_entities ? entities_ : others_).push_back(part);
        own += is_entities ? 0 : part.count;
    }
    if (entities_.empty())
        throw std::runtime_error(
            "'attention' is among entities, and Obs has no Array of two dimensions, a row "
            "for each; 'transformer' is among the newest observations");
    // Where Obs has entities alone, the agent's token has nothing but a bias.
    self_ = register_module("self", torch::nn::Linear(std::max<int64_t>(own, 1), its.width));
    for (const Part& part : entities_)
        enter_.push_back(register_module("enter" + std::to_string(enter_.size()),
                                         torch::nn::Linear(part.sizes[1], its.width)));
    for (int64_t i = 0; i < its.levels; ++i)
        levels_.push_back(register_module("level" + std::to_string(i),
                                          std::make_shared<AttentionLevel>(its.width, its.heads)));
    ends_ = register_module("ends", std::make_shared<Ends>(its.width, sizes.outputs));
}

Tensor Attention::forward(const Tensor& rows, Tensor&) {
    std::vector<Tensor> own;
    for (const Part& part : others_) own.push_back(rows.narrow(1, part.first, part.count));
    if (own.empty()) own.push_back(at::zeros({rows.size(0), 1}, rows.options()));
    std::vector<Tensor> tokens = {self_(at::cat(own, 1)).unsqueeze(1)};
    for (size_t i = 0; i < entities_.size(); ++i) {
        const Part& part = entities_[i];
        tokens.push_back(enter_[i](
            rows.narrow(1, part.first, part.count).view({-1, part.sizes[0], part.sizes[1]})));
    }
    Tensor x = at::cat(tokens, 1);
    for (const auto& level : levels_) x = level->forward(x, {});
    return ends_->forward(at::layer_norm(x.select(1, 0), {x.size(2)}));
}

}
