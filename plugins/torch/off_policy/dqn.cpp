// Values of choices (Mnih and others, 2015), by two networks (van Hasselt and others, 2016), duelling (Wang and others,
// 2016), of distributions (Bellemare and others, 2017).
#include "plugins/torch/off_policy/method.h"

namespace torch_learn {
namespace {

using at::Tensor;

class Dqn final : public OffPolicyMethod {
public:
    explicit Dqn(const NetworkMaker& maker)
        : settings_(maker.settings),
          replay_(maker.replay),
          normal_(maker.normal),
          choices_(maker.replay.ring.choices()),
          atoms_(maker.settings.atoms),
          sizes_(maker.widths(0, atoms_ * (choices_ + (settings_.duelling ? 1 : 0)))),
          networks_(
              maker.replay, settings_, policy_array,
              [&] { return Networks{maker.network(0, sizes_.back())}; }, 0, true) {
        if (atoms_ > 1)
            support_ = at::linspace(settings_.least_value, settings_.most_value, atoms_)
                           .to(maker.replay.tensors.device());
    }
    Tensor outputs(const Tensor& seen) const override {
        return means(values(*networks_.now()[0], seen));
    }
    std::vector<Tensor> update(const Samples& s, bool, void* stream) override {
        const Tensor seen = normal_(s.obs), chosen = s.action.to(at::kLong);
        const Tensor now = values(*networks_.now()[0], seen);
        const Tensor taken = now.gather(1, chosen.unsqueeze(2).expand({-1, 1, atoms_})).squeeze(1);
        Tensor losses, off;
        if (atoms_ > 1) {
            losses = -(aim_of_distributions(s) * taken.log_softmax(1)).sum(1);
            off = losses;
        } else {
            off = taken.squeeze(1) - aim(s);
            losses = at::huber_loss(off, at::zeros_like(off), at::Reduction::None);
        }
        prioritise(settings_, replay_, off, stream);
        const Tensor loss = weighed(replay_, losses, stream),
                     length = networks_.learn(loss, stream);
        networks_.follow();
        return {loss.detach(), means(now).detach().amax(1).mean(), length};
    }
    std::vector<const char*> names() const override {
        return {"loss.value", "value", "gradient_norm"};
    }
    std::vector<int64_t> sizes() const override {
        return atoms_ > 1 ? std::vector<int64_t>() : sizes_;
    }

private:
    // [n][choices][atoms]: values, or what the softmax of gives probabilities.
    Tensor values(const Layers& network, const Tensor& seen) const {
        const Tensor out = network.forward(seen);
        const Tensor own = out.narrow(1, 0, choices_ * atoms_).view({-1, choices_, atoms_});
        if (!settings_.duelling) return own;
        const Tensor common = out.narrow(1, choices_ * atoms_, atoms_).unsqueeze(1);
        return common + own - own.mean(1, true);
    }
    // [n][choices]
    Tensor means(const Tensor& values) const {
        return atoms_ > 1 ? (values.softmax(2) * support_).sum(2) : values.squeeze(2);
    }
    // The best choice where a sample's steps led to, [n][1].
    Tensor best_next(const Tensor& seen, const Tensor& following, const Samples& s) const {
        Tensor scores =
            settings_.double_values ? means(values(*networks_.now()[0], seen)) : means(following);
        if (s.next_mask.defined())
            scores = scores.masked_fill(s.next_mask.eq(0), -std::numeric_limits<float>::infinity());
        return scores.argmax(1, true);
    }
    Tensor aim(const Samples& s) const {
        const at::NoGradGuard no_gradient;
        const Tensor seen = normal_(s.next_obs), next = values(*networks_.following()[0], seen);
        const Tensor worth = means(next).gather(1, best_next(seen, next, s)).squeeze(1);
        return s.reward * settings_.reward_scale + s.discount * worth;
    }
    // Probabilities of the values, [n][atoms]: those of what follows, moved and shared among neighbours.
    Tensor aim_of_distributions(const Samples& s) const {
        const at::NoGradGuard no_gradient;
        const Tensor seen = normal_(s.next_obs), next = values(*networks_.following()[0], seen);
        const Tensor best = best_next(seen, next, s).unsqueeze(2).expand({-1, 1, atoms_});
        const Tensor chances = next.gather(1, best).squeeze(1).softmax(1);
        const double width = (settings_.most_value - settings_.least_value) / double(atoms_ - 1);
        const Tensor moved =
            (s.reward.unsqueeze(1) * settings_.reward_scale + s.discount.unsqueeze(1) * support_)
                .clamp(settings_.least_value, settings_.most_value);
        // Of each value that there is, how near each moved one lies: a sum in a fixed order.
        const Tensor near =
            (1 - (moved.unsqueeze(1) - support_.view({1, -1, 1})).abs() / width).clamp(0, 1);
        return (near * chances.unsqueeze(1)).sum(2);
    }

    const LearnerSettings& settings_;
    const ReplayTensors& replay_;
    const Normaliser& normal_;
    int64_t choices_, atoms_;
    std::vector<int64_t> sizes_;
    TrainedNetworks networks_;
    Tensor support_;
};

}

std::unique_ptr<OffPolicyMethod> make_dqn(const NetworkMaker& maker) {
    return std::make_unique<Dqn>(maker);
}

}
