#pragma once
#include "algorithms/policy_gradient/run/external_policy.h"
#include "plugins/torch/learners/gpu.h"
#include "plugins/torch/learners/learning_model.h"

namespace torch_learn {

// A central critic: a network of LibTorch that sees more than the policy whose values it gives.
class AutogradCritic final : public learn::ExternalPolicy {
public:
    AutogradCritic(nacelle::plugin::Host host, const learn::Settings& settings,
                   const learn::NetworkShape& shape, uint32_t number, Gpu* gpu);

    void begin(const learn::Arguments& a) override;
    // The values of all that the rollout kept, by the weights as they are.
    void close_rollout(const learn::Arguments& a, void* stream) override;
    void update(const learn::Arguments& a, uint64_t samples, void* stream) override;
    // It does not act.
    void forward(const learn::Arguments&, void*) override {}
    void value_ends(const learn::Arguments&, void*) override {}
    void review(const learn::Arguments&, void*) override {}

private:
    // What it sees at these places of the group's rollout; `final`: where episodes were cut short there.
    at::Tensor rows_at(const at::Tensor& places, bool final) const;
    at::Tensor value_at(const at::Tensor& places, bool final);

    nacelle::plugin::Host host_;
    Gpu* gpu_;
    const learn::PolicySettings& critic_;
    const learn::NetworkShape& shape_;
    uint32_t number_;
    nacelle_environment environment_;
    Tensors tensors_;
    LearningModel model_;
    int64_t agents_ = 0, in_group_ = 0, rows_ = 0, steps_;
    struct Seen {
        at::Tensor obs, final_obs, mean, scale;
    };
    Seen overview_, observed_;
    at::Tensor members_;    // the numbers of its agents among their group, where others are in it
    at::Tensor flag_, value_, final_value_, target_, samples_, all_;
};

}
