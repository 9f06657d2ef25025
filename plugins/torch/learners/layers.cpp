#include "plugins/torch/learners/layers.h"

namespace torch_learn {

using at::Tensor;
using learn::Cell;

Tensor activated(const Tensor& x, const std::string& name) {
    if (name == "relu") return at::relu(x);
    if (name == "gelu") return at::gelu(x, "tanh");
    if (name == "silu") return at::silu(x);
    return at::tanh(x);
}

// The images of rows as [n][channels][rows][columns], and behind the convolutions the numbers that are none.
class Encoder final : public torch::nn::Module {
public:
    Encoder(const learn::Encoder& encoder, const std::string& activation)
        : encoder_(encoder), activation_(activation) {
        for (int l = 0; l < encoder.count; ++l) {
            const learn::Convolution& c = encoder.layer[l];
            const std::string number = std::to_string(l);
            filters_.push_back(register_parameter(
                "filter" + number, at::zeros({c.out, c.size_rows, c.size_columns, c.channels})));
            biases_.push_back(register_parameter("bias" + number, at::zeros({c.out})));
        }
    }
    Tensor forward(const Tensor& rows) {
        Tensor x = images(rows);
        for (size_t l = 0; l < filters_.size(); ++l) {
            const learn::Convolution& c = encoder_.layer[l];
            const Tensor filter = filters_[l].permute({0, 3, 1, 2});
            x = at::conv2d(x, filter, biases_[l], {c.stride, c.stride}, {c.padding, c.padding});
            x = activated(x, activation_);
        }
        std::vector<Tensor> all = {x.permute({0, 2, 3, 1}).flatten(1)};
        for (int i = 0; i < encoder_.others; ++i)
            all.push_back(rows.narrow(1, encoder_.other[i].first, encoder_.other[i].count));
        return all.size() > 1 ? at::cat(all, 1) : all[0];
    }

private:
    Tensor images(const Tensor& rows) const {
        std::vector<Tensor> channels;
        for (int i = 0; i < encoder_.images; ++i) {
            const learn::RowPart& part = encoder_.image[i];
            channels.push_back(
                rows.narrow(1, part.first, part.count)
                    .view({-1, encoder_.layer[0].rows, encoder_.layer[0].columns, part.channels}));
        }
        Tensor all = at::cat(channels, 3);
        if (encoder_.codes) {
            const Tensor codes = at::arange(encoder_.codes, all.options());
            all = all.unsqueeze(4).eq(codes).to(all.scalar_type()).flatten(3);
        }
        return all.permute({0, 3, 1, 2});
    }

    learn::Encoder encoder_;
    std::string activation_;
    std::vector<Tensor> filters_, biases_;
};

Layer::Layer(Cell cell, int64_t in, int64_t out) : cell_(cell), out_(out) {
    for (int m = 0; m < learn::matrices_of(cell); ++m) {
        const learn::MatrixSize size = learn::matrix_of(cell, m, in, out);
        const std::string number = std::to_string(m);
        weights_.push_back(register_parameter("weight" + number, at::zeros({size.out, size.in})));
        biases_.push_back(register_parameter("bias" + number, at::zeros({size.out})));
    }
}
void Layer::blind(int64_t first, int64_t end) {
    if (first == end) return;
    sees_ = register_buffer("sees", at::ones({out_, 1}));
    sees_.narrow(0, first, end - first).zero_();
}
Tensor Layer::product(const Tensor& x) const {
    return at::linear(x, sees_.defined() ? weights_[0] * sees_ : weights_[0], biases_[0]);
}
Tensor Layer::forward(const Tensor& x, const Tensor& h, const std::string& activation) const {
    if (cell_ == Cell::linear) return activated(product(x), activation);
    if (cell_ == Cell::gru)
        return at::gru_cell(x, h, weights_[0], weights_[1], biases_[0], biases_[1]);
    const std::vector<Tensor> gates = product(x).chunk(2, 1);
    return h + at::sigmoid(gates[0]) * (activated(gates[1], activation) - h);
}

Layers::Layers(const learn::Encoder& encoder, const std::vector<int64_t>& widths,
               const std::vector<Cell>& cells, const std::string& activation)
    : activation_(activation) {
    if (encoder.count)
        encoder_ = register_module("encoder", std::make_shared<Encoder>(encoder, activation));
    for (size_t l = 0; l + 1 < widths.size(); ++l) {
        const Cell cell = l < cells.size() ? cells[l] : Cell::linear;
        layers_.push_back(register_module("layer" + std::to_string(l),
                                          std::make_shared<Layer>(cell, widths[l], widths[l + 1])));
    }
}
int64_t Layers::memory() const {
    int64_t all = 0;
    for (const auto& layer : layers_) all += layer->memory();
    return all;
}
Tensor Layers::forward(const Tensor& rows, const Tensor& before, int64_t at,
                       std::vector<Tensor>& after) const {
    Tensor x = encoder_ ? encoder_->forward(rows) : rows;
    for (size_t l = 0; l + 1 < layers_.size(); ++l) {
        const int64_t size = layers_[l]->memory();
        x = layers_[l]->forward(x, size ? before.narrow(1, at, size) : Tensor(), activation_);
        if (size) after.push_back(x);
        at += size;
    }
    return layers_.back()->product(x);
}
Tensor Layers::forward(const Tensor& rows, const Tensor& beside) const {
    Tensor x = encoder_ ? encoder_->forward(rows) : rows;
    if (beside.defined()) x = at::cat({x, beside}, 1);
    for (size_t l = 0; l + 1 < layers_.size(); ++l)
        x = layers_[l]->forward(x, Tensor(), activation_);
    return layers_.back()->product(x);
}

}
