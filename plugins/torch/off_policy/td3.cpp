// A policy of numbers that climbs a value (Lillicrap and others, 2016), and with the lower of two values and noise beside
// what follows (Fujimoto and others, 2018).
#include "plugins/torch/off_policy/method.h"

namespace torch_learn {
namespace {

using at::Tensor;

class Td3 final : public OffPolicyMethod {
public:
    explicit Td3(const NetworkMaker& maker)
        : settings_(maker.settings),
          replay_(maker.replay),
          normal_(maker.normal),
          sizes_(maker.widths(0, maker.replay.ring.parts())),
          policy_(
              maker.replay, settings_, policy_array,
              [&] { return Networks{maker.network(0, sizes_.back())}; }, 0, true),
          values_(
              maker.replay, settings_, "values",
              [&] {
                  Networks all = {maker.network(maker.replay.ring.parts(), 1)};
                  if (settings_.method == Method::td3)
                      all.push_back(maker.network(maker.replay.ring.parts(), 1));
                  return all;
              },
              1, true),
          policy_loss_(maker.replay.array_with("policy.loss", {0}).squeeze(0)) {}
    Tensor outputs(const Tensor& seen) const override { return policy_.now()[0]->forward(seen); }
    std::vector<int64_t> sizes() const override { return sizes_; }
    std::vector<const char*> names() const override {
        return {"loss.value", "loss.policy", "value", "gradient_norm"};
    }
    std::vector<Tensor> update(const Samples& s, bool policy, void* stream) override {
        const Tensor seen = normal_(s.obs), aim = this->aim(s);
        Tensor losses = at::zeros_like(aim), far = at::zeros_like(aim), value;
        for (const auto& network : values_.now()) {
            value = network->forward(seen, s.action).squeeze(1);
            losses = losses + 0.5 * (value - aim).square();
            far = far + (value - aim).detach().abs();
        }
        prioritise(settings_, replay_, far / double(values_.now().size()), stream);
        const Tensor loss = weighed(replay_, losses, stream), length = values_.learn(loss, stream);
        if (policy) {
            const Tensor action = outputs(seen).tanh();
            const Tensor climbed = -values_.now()[0]->forward(seen, action).mean();
            policy_.learn(climbed, stream);
            policy_loss_.copy_(climbed.detach());
            replay_.ranks.average(policy_loss_,
                                  stream);    // checkpoints want equal arrays on all ranks
            policy_.follow();
            values_.follow();
        }
        return {loss.detach(), policy_loss_, value.detach().mean(), length};
    }

private:
    Tensor aim(const Samples& s) const {
        const at::NoGradGuard no_gradient;
        const Tensor seen = normal_(s.next_obs);
        Tensor action = policy_.following()[0]->forward(seen).tanh();
        if (settings_.target_noise > 0) {
            const double bound = settings_.target_noise_bound;
            action =
                (action + (settings_.target_noise * s.noise[0]).clamp(-bound, bound)).clamp(-1, 1);
        }
        Tensor worth;
        for (const auto& network : values_.following()) {
            const Tensor own = network->forward(seen, action).squeeze(1);
            worth = worth.defined() ? at::minimum(worth, own) : own;
        }
        return s.reward * settings_.reward_scale + s.discount * worth;
    }

    const LearnerSettings& settings_;
    const ReplayTensors& replay_;
    const Normaliser& normal_;
    std::vector<int64_t> sizes_;
    TrainedNetworks policy_, values_;
    Tensor policy_loss_;
};

}

std::unique_ptr<OffPolicyMethod> make_td3(const NetworkMaker& maker) {
    return std::make_unique<Td3>(maker);
}

}
