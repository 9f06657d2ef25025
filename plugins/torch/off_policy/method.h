#pragma once
#include "plugins/torch/off_policy/normaliser.h"
#include "plugins/torch/off_policy/trained_network.h"

namespace torch_learn {

// What one algorithm has of its own: its networks, and what an update does to them.
class OffPolicyMethod {
public:
    virtual ~OffPolicyMethod() = default;
    // Of the network that chooses, of rows as it sees them.
    virtual at::Tensor outputs(const at::Tensor& seen) const = 0;
    // One update; `policy` says whether it is also one of the policy, where values have more of them. The numbers that
    // names() names, each a tensor without dimensions.
    virtual std::vector<at::Tensor> update(const Samples& samples, bool policy, void* stream) = 0;
    virtual std::vector<const char*> names() const = 0;
    // The array of the network that chooses and the neurons of its layers, or none where its outputs are more than that.
    virtual std::vector<int64_t> sizes() const = 0;
    static constexpr const char* policy_array = replay::policy_array;
};

// What makes the networks of all of them.
struct NetworkMaker {
    const ReplayTensors& replay;
    const LearnerSettings& settings;
    const learn::Encoder& encoder;
    const Normaliser& normal;

    // Hidden layers behind what is seen, and so many numbers beside it.
    std::vector<int64_t> widths(int64_t beside, int64_t outputs) const;
    std::shared_ptr<Layers> network(int64_t beside, int64_t outputs) const;
};

std::unique_ptr<OffPolicyMethod> make_dqn(const NetworkMaker& maker);
std::unique_ptr<OffPolicyMethod> make_sac(const NetworkMaker& maker);
std::unique_ptr<OffPolicyMethod> make_discrete_sac(const NetworkMaker& maker);
std::unique_ptr<OffPolicyMethod> make_td3(const NetworkMaker& maker);    // and DDPG

// The mean over this rank's samples, each by its weight among all ranks, and what priorities are made of: how far values were off.
at::Tensor weighed(const ReplayTensors& replay, const at::Tensor& losses, void* stream);
void prioritise(const LearnerSettings& settings, const ReplayTensors& replay, const at::Tensor& off,
                void* stream);

}
