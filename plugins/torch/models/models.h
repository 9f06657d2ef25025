#pragma once
#include "plugins/torch/include/nacelle/torch/model.h"

#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

// Networks that are none of `hidden`'s layers, offered as anybody's are: by "model": {"name": ...}.
namespace torch_learn {

using nacelle::torch_models::Model;
using nacelle::torch_models::Part;
using nacelle::torch_models::Sizes;

// What actions are chosen by, and the value behind it, of what the layers before have found.
class Ends final : public torch::nn::Module {
public:
    Ends(int64_t width, int64_t outputs);
    at::Tensor forward(const at::Tensor& x) const;

private:
    torch::nn::Linear choose_{nullptr}, judge_{nullptr};
};

// A level of a transformer: attention among tokens and two layers for each, both beside what they add to.
class AttentionLevel final : public torch::nn::Module {
public:
    AttentionLevel(int64_t width, int64_t heads);
    // Tokens [n][tokens][width]; `open` [n][tokens] says which are there, or is undefined where all are.
    at::Tensor forward(const at::Tensor& tokens, const at::Tensor& open) const;

private:
    int64_t heads_;
    torch::nn::Linear split_{nullptr}, join_{nullptr}, widen_{nullptr}, narrow_{nullptr};
};

// Long short-term memory (Hochreiter and Schmidhuber, 1997) behind a layer.
class Lstm final : public Model {
public:
    static constexpr const char* name = "lstm";
    Lstm(const Sizes& sizes, std::string_view settings);
    int64_t memory() const override { return 2 * width_ * int64_t(cells_.size()); }
    at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) override;

private:
    int64_t width_;
    torch::nn::Linear enter_{nullptr};
    std::vector<torch::nn::LSTMCell> cells_;
    std::shared_ptr<Ends> ends_;
};

// Attention among entities: each row of an `Array` of two dimensions in Obs is one, and all other numbers are the agent
// itself. All rows of an array go through the same weights, so that their order makes no difference.
class Attention final : public Model {
public:
    static constexpr const char* name = "attention";
    Attention(const Sizes& sizes, std::string_view settings);
    at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) override;

private:
    std::vector<Part> entities_, others_;
    torch::nn::Linear self_{nullptr};
    std::vector<torch::nn::Linear> enter_;
    std::vector<std::shared_ptr<AttentionLevel>> levels_;
    std::shared_ptr<Ends> ends_;
};

// A transformer over the newest rows of the episode, which it remembers (Vaswani and others, 2017).
class Transformer final : public Model {
public:
    static constexpr const char* name = "transformer";
    Transformer(const Sizes& sizes, std::string_view settings);
    int64_t memory() const override { return (window_ - 1) * (seen_ + 1); }
    at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) override;

private:
    int64_t seen_, window_;
    torch::nn::Linear enter_{nullptr};
    at::Tensor age_;    // [window][width]: what a token is told of how long ago it was
    std::vector<std::shared_ptr<AttentionLevel>> levels_;
    std::shared_ptr<Ends> ends_;
};

}
