#pragma once
#include "algorithms/policy_gradient/device/learn/layout/arguments.h"

#include "plugins/torch/learners/tensors.h"

namespace torch_learn {

// The step that a minibatch's gradient leads to, as algorithms/README.md has it: AdamW behind a bound of the gradient's
// length, and none once the target KL is passed.
class Optimiser final {
public:
    Optimiser(const Tensors& tensors, const learn::PolicyState& state, int64_t parameters);

    const at::Tensor& gradient() const { return gradient_; }
    at::Tensor dial(learn::Dial dial) const { return dials_[dial]; }
    at::Tensor found(learn::Found found) const { return found_[found]; }
    // Follows the gradient, whose samples had these sums [tally_count], in doubles.
    void step(const at::Tensor& tally);

private:
    at::Tensor decide(const at::Tensor& tally);

    at::Tensor weights_, gradient_, first_, second_;
    at::Tensor dials_, found_, carried_, sums_;
};

}
