#pragma once
#include "algorithms/policy_gradient/run/external_policy.h"
#include "plugins/torch/learners/gpu.h"
#include "plugins/torch/learners/heads.h"
#include "plugins/torch/learners/learning_model.h"

namespace torch_learn {

// A policy whose networks are a model of LibTorch, and whose gradient is autograd's.
class AutogradPolicy final : public learn::ExternalPolicy {
public:
    AutogradPolicy(nacelle::plugin::Host host, const learn::Settings& settings,
                   const learn::NetworkShape& shape, uint32_t number, std::shared_ptr<Model> model,
                   Gpu* gpu);

    void begin(const learn::Arguments& a) override;
    void forward(const learn::Arguments& a, void* stream) override;
    void value_ends(const learn::Arguments& a, void* stream) override;
    void close_rollout(const learn::Arguments& a, void* stream) override;
    void review(const learn::Arguments& a, void* stream) override;
    void update(const learn::Arguments& a, uint64_t samples, void* stream) override;

private:
    // What a rollout kept, a row for each sample of the group.
    struct Kept {
        at::Tensor obs, mask, choice, log_probability, value, reward, flag, advantage, target,
            final_obs, final_value, ratio;
    };
    void keep(const learn::Arguments& a);
    at::Tensor seen_of(const at::Tensor& rows) const;
    // Unless a central critic does.
    bool finds_values() const { return model_.learns() && !shape_.elsewhere; }
    at::Tensor value_of(const at::Tensor& out) const { return out.select(1, shape_.outputs()); }
    // The model's outputs for these samples, in their order.
    at::Tensor outputs_of(const at::Tensor& samples);
    at::Tensor loss(const at::Tensor& at, const at::Tensor& out, at::Tensor& tally) const;

    nacelle::plugin::Host host_;
    Gpu* gpu_;
    const learn::Settings& settings_;
    const learn::PolicySettings& policy_;
    const learn::NetworkShape& shape_;
    nacelle_environment environment_;
    Tensors tensors_;
    LearningModel model_;
    Heads heads_;
    int64_t agents_ = 0, rows_ = 0, steps_;
    Kept kept_;
    at::Tensor mean_, scale_, codes_, samples_, standing_, outputs_, begun_, forgot_;
};

}
