#include "plugins/torch/models/models.h"

#include <ATen/core/grad_mode.h>

namespace torch_learn {

// At first all choices are about as likely, whatever is seen, as with `hidden`.
Ends::Ends(int64_t width, int64_t outputs) {
    choose_ = register_module("choose", torch::nn::Linear(width, outputs));
    judge_ = register_module("judge", torch::nn::Linear(width, 1));
    const at::NoGradGuard no_gradient;
    choose_->weight.mul_(0.01);
    for (const at::Tensor& bias : {choose_->bias, judge_->bias}) bias.zero_();
}
at::Tensor Ends::forward(const at::Tensor& x) const {
    return at::cat({at::linear(x, choose_->weight, choose_->bias),
                    at::linear(x, judge_->weight, judge_->bias)},
                   1);
}

}
