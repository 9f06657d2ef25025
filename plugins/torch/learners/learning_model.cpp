#include "plugins/torch/learners/learning_model.h"

#include <ATen/core/grad_mode.h>

namespace torch_learn {

using at::Tensor;

void LearningModel::begin(const learn::PolicyState& state, int64_t parameters) {
    weights_ = tensors_.of(state.weights, {parameters});
    gradient_ = tensors_.of(state.total, {parameters});
    Tensor weights = weights_, gradient = gradient_;
    if (policy_.precision == "bf16") {
        weights = half_weights_ = at::zeros_like(weights_, at::kBFloat16);
        if (learns()) gradient = half_gradient_ = at::zeros_like(weights);
    }
    // Those of whole numbers, such as places, stay what they are.
    for (Tensor& buffer : model_->buffers())
        buffer.set_data(buffer.is_floating_point() ? buffer.to(weights.options())
                                                   : buffer.to(weights.device()));
    int64_t at = 0;
    for (Tensor& parameter : model_->parameters()) {
        const int64_t n = parameter.numel();
        parameter.set_data(weights.narrow(0, at, n).view(parameter.sizes()));
        if (learns()) parameter.mutable_grad() = gradient.narrow(0, at, n).view(parameter.sizes());
        else parameter.set_requires_grad(false);
        at += n;
    }
    if (learns()) optimiser_ = std::make_unique<Optimiser>(tensors_, state, parameters);
}

void LearningModel::follow_weights() {
    if (half_weights_.defined()) half_weights_.copy_(weights_);
}

void LearningModel::step(const Tensor& loss, const Tensor& tally, void* stream) {
    const bool halves = half_gradient_.defined();
    {
        const at::NoGradGuard no_gradient;
        (halves ? half_gradient_ : gradient_).zero_();
    }
    loss.backward();
    const at::NoGradGuard no_gradient;
    if (halves) gradient_.copy_(half_gradient_);
    if (ranks_.count() > 1) {    // which may have different numbers of samples that count
        const Tensor own = tally[learn::weight].to(at::kFloat);
        ranks_.add_up(tally, stream);
        ranks_.average(gradient_, own, tally[learn::weight].clamp_min(1).to(at::kFloat), stream);
    }
    optimiser_->step(tally);
    follow_weights();
}

}
