#pragma once
#include "algorithms/policy_gradient/settings/settings.h"
#include "plugins/torch/learners/network.h"
#include "plugins/torch/learners/optimiser.h"
#include "plugins/torch/learners/rank_tensors.h"

namespace torch_learn {

// A model whose parameters are a policy's weights, or a critic's, and the steps that they make.
class LearningModel final {
public:
    LearningModel(nacelle::plugin::Host host, const learn::PolicySettings& policy,
                  std::shared_ptr<Model> model, const Tensors& tensors)
        : ranks_(host), policy_(policy), tensors_(tensors), model_(std::move(model)) {}

    // The arrays are there. The model's parameters become views of the weights, and their gradients of the gradient.
    void begin(const learn::PolicyState& state, int64_t parameters);
    // In bf16 the model computes with a copy of the weights, made anew after each step of the optimiser.
    void follow_weights();
    // One update down this loss, the mean over the samples that count, whose tally this is. It becomes that of all ranks.
    void step(const at::Tensor& loss, const at::Tensor& tally, void* stream);

    int64_t memory() const { return model_->memory(); }
    at::Tensor forward(const at::Tensor& rows, at::Tensor& memory) {
        return model_->forward(rows, memory);
    }
    bool learns() const { return policy_.role == learn::PolicySettings::Role::trained; }
    const Optimiser& optimiser() const { return *optimiser_; }

private:
    RankTensors ranks_;
    const learn::PolicySettings& policy_;
    Tensors tensors_;
    std::shared_ptr<Model> model_;
    at::Tensor weights_, gradient_, half_weights_, half_gradient_;    // the halves: in bf16 alone
    std::unique_ptr<Optimiser> optimiser_;
};

// Numbers as networks see them.
inline at::Tensor normal(const at::Tensor& rows, const at::Tensor& mean, const at::Tensor& scale) {
    return ((rows - mean) * scale).clamp(-double(learn::most_normal), double(learn::most_normal));
}
// Half the square of how far values are off, of which a clip bounds how far they move; `then` are those of the rollout.
inline at::Tensor loss_of_values(const at::Tensor& value, const at::Tensor& then,
                                 const at::Tensor& target, const at::Tensor& reach) {
    const at::Tensor moved = value - then;
    const at::Tensor kept = then + at::minimum(at::maximum(moved, -reach), reach);
    const at::Tensor off = (value - target).square();
    return 0.5 * at::where(reach.gt(0), at::maximum(off, (kept - target).square()), off);
}
// 1 for each sample from which something is to be learnt.
inline at::Tensor counting(const at::Tensor& flags) {
    return flags.bitwise_and(learn::acted | learn::unsettled).eq(learn::acted).to(at::kFloat);
}
inline at::Tensor cut_short(const at::Tensor& flags) {
    return flags.bitwise_and(learn::terminated | learn::truncated).eq(learn::truncated);
}

}
