// Values with a share of the policy's entropy (Haarnoja and others, 2018; of choices: Christodoulou, 2019).
#include "plugins/torch/off_policy/method.h"

#include <numbers>

namespace torch_learn {
namespace {

using at::Tensor;

// What entropy is worth: a number that is set, or one that is tuned until the entropy is what it should be.
class Temperature final {
public:
    Temperature(const ReplayTensors& replay, const LearnerSettings& settings)
        : settings_(settings) {
        if (!settings.tunes_temperature) {
            set_ = replay.dial(replay::temperature);
            return;
        }
        logarithm_ = at::zeros({1}).set_requires_grad(true);
        trained_ =
            std::make_unique<Trained>(replay, settings, "temperature",
                                      std::vector<Tensor>{logarithm_}, std::vector<float>{0.0f});
    }
    Tensor now() const { return trained_ ? logarithm_.detach().exp().squeeze(0) : set_; }
    void learn(const Tensor& entropy, void* stream) {
        if (trained_)
            trained_->learn((logarithm_ * (entropy - settings_.target_entropy)).sum(), stream);
    }

private:
    const LearnerSettings& settings_;
    Tensor set_, logarithm_;
    std::unique_ptr<Trained> trained_;
};

class Sac : public OffPolicyMethod {
public:
    Sac(const NetworkMaker& maker, int64_t beside, int64_t outputs, int64_t values)
        : settings_(maker.settings),
          replay_(maker.replay),
          normal_(maker.normal),
          sizes_(maker.widths(0, outputs)),
          policy_(
              maker.replay, settings_, policy_array,
              [&] { return Networks{maker.network(0, outputs)}; }, 0, false),
          values_(
              maker.replay, settings_, "values",
              [&] {
                  return Networks{maker.network(beside, values), maker.network(beside, values)};
              },
              1, true),
          temperature_(maker.replay, settings_) {}
    Tensor outputs(const Tensor& seen) const override { return policy_.now()[0]->forward(seen); }
    std::vector<int64_t> sizes() const override { return sizes_; }
    std::vector<const char*> names() const override {
        return {"loss.value", "loss.policy", "value", "entropy", "temperature", "gradient_norm"};
    }
    std::vector<Tensor> update(const Samples& s, bool, void* stream) override {
        const Tensor seen = normal_(s.obs);
        Tensor aim;
        {
            const at::NoGradGuard no_gradient;
            aim = s.reward * settings_.reward_scale + s.discount * worth(s, normal_(s.next_obs));
        }
        const Tensor first = taken(*values_.now()[0], s, seen) - aim,
                     second = taken(*values_.now()[1], s, seen) - aim;
        prioritise(settings_, replay_, 0.5 * (first.abs() + second.abs()), stream);
        const Tensor loss = weighed(replay_, 0.5 * (first.square() + second.square()), stream);
        const Tensor length = values_.learn(loss, stream);
        Tensor entropy, value;
        const Tensor policy_loss = loss_of_policy(s, seen, entropy, value);
        policy_.learn(policy_loss, stream);
        const Tensor now = temperature_.now();
        temperature_.learn(entropy, stream);
        values_.follow();
        return {loss.detach(), policy_loss.detach(), value, entropy, now, length};
    }

protected:
    // What it is worth to be where a sample's steps led to.
    virtual Tensor worth(const Samples& s, const Tensor& seen) const = 0;
    // The value of what was done.
    virtual Tensor taken(const Layers& network, const Samples& s, const Tensor& seen) const = 0;
    virtual Tensor loss_of_policy(const Samples& s, const Tensor& seen, Tensor& entropy,
                                  Tensor& value) const = 0;
    static Tensor least(const Networks& networks, const Tensor& seen, const Tensor& beside) {
        return at::minimum(networks[0]->forward(seen, beside), networks[1]->forward(seen, beside));
    }

    const LearnerSettings& settings_;
    const ReplayTensors& replay_;
    const Normaliser& normal_;
    std::vector<int64_t> sizes_;
    TrainedNetworks policy_, values_;
    Temperature temperature_;
};

class ContinuousSac final : public Sac {
public:
    explicit ContinuousSac(const NetworkMaker& maker)
        : Sac(maker, maker.replay.ring.parts(), 2 * maker.replay.ring.parts(), 1) {}

private:
    struct Drawn {
        Tensor action, log_probability;
    };
    Drawn draw(const Tensor& seen, const Tensor& noise) const {
        const std::vector<Tensor> out = outputs(seen).chunk(2, 1);
        const Tensor log_sigma =
            out[1].clamp(double(least_log_deviation), double(most_log_deviation));
        const Tensor u = out[0] + log_sigma.exp() * noise;
        const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
        const Tensor density = -0.5 * noise.square() - log_sigma - half_log_two_pi,
                     squash = 2 * (std::numbers::ln2 - u - at::softplus(-2 * u));
        return {u.tanh(), (density - squash).sum(1)};
    }
    Tensor worth(const Samples& s, const Tensor& seen) const override {
        const Drawn next = draw(seen, s.noise[0]);
        return least(values_.following(), seen, next.action).squeeze(1) -
               temperature_.now() * next.log_probability;
    }
    Tensor taken(const Layers& network, const Samples& s, const Tensor& seen) const override {
        return network.forward(seen, s.action).squeeze(1);
    }
    Tensor loss_of_policy(const Samples& s, const Tensor& seen, Tensor& entropy,
                          Tensor& value) const override {
        const Drawn now = draw(seen, s.noise[1]);
        const Tensor worth = least(values_.now(), seen, now.action).squeeze(1);
        entropy = -now.log_probability.detach().mean();
        value = worth.detach().mean();
        return (temperature_.now() * now.log_probability - worth).mean();
    }
};

class DiscreteSac final : public Sac {
public:
    explicit DiscreteSac(const NetworkMaker& maker)
        : Sac(maker, 0, maker.replay.ring.choices(), maker.replay.ring.choices()) {}

private:
    struct Chances {
        Tensor chance, logarithm;    // [n][choices]; what is closed has none
    };
    Chances chances(const Tensor& seen, const Tensor& mask) const {
        Tensor scores = outputs(seen);
        if (mask.defined()) scores = scores.masked_fill(mask.eq(0), -1e9);
        return {scores.softmax(1), scores.log_softmax(1)};
    }
    Tensor worth(const Samples& s, const Tensor& seen) const override {
        const Chances next = chances(seen, s.next_mask);
        const Tensor values = least(values_.following(), seen, {});
        return (next.chance * (values - temperature_.now() * next.logarithm)).sum(1);
    }
    Tensor taken(const Layers& network, const Samples& s, const Tensor& seen) const override {
        return network.forward(seen).gather(1, s.action.to(at::kLong)).squeeze(1);
    }
    Tensor loss_of_policy(const Samples& s, const Tensor& seen, Tensor& entropy,
                          Tensor& value) const override {
        const Chances now = chances(seen, s.mask);
        const Tensor values = least(values_.now(), seen, {}).detach();
        entropy = -(now.chance * now.logarithm).detach().sum(1).mean();
        value = (now.chance * values).detach().sum(1).mean();
        return (now.chance * (temperature_.now() * now.logarithm - values)).sum(1).mean();
    }
};

}

std::unique_ptr<OffPolicyMethod> make_sac(const NetworkMaker& maker) {
    return std::make_unique<ContinuousSac>(maker);
}
std::unique_ptr<OffPolicyMethod> make_discrete_sac(const NetworkMaker& maker) {
    return std::make_unique<DiscreteSac>(maker);
}

}
