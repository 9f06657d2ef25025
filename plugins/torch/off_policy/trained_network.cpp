#include "plugins/torch/off_policy/trained_network.h"

namespace torch_learn {

using at::Tensor;

namespace {

std::vector<Tensor> parameters_of(const Networks& networks) {
    std::vector<Tensor> all;
    for (const auto& network : networks)
        for (const Tensor& parameter : network->parameters()) all.push_back(parameter);
    return all;
}
// Matrices, and filters of convolutions, each with its biases behind it.
std::vector<learn::MatrixSize> layers_of(const std::vector<Tensor>& parameters) {
    std::vector<learn::MatrixSize> layers;
    for (const Tensor& parameter : parameters)
        if (parameter.dim() > 1)
            layers.push_back({parameter.numel() / parameter.size(0), parameter.size(0)});
    return layers;
}
void adopt(std::vector<Tensor>& parameters, const Tensor& weights) {
    int64_t at = 0;
    for (Tensor& parameter : parameters) {
        const int64_t n = parameter.numel();
        parameter.set_data(weights.narrow(0, at, n).view(parameter.sizes()));
        at += n;
    }
}
}

Trained::Trained(const ReplayTensors& replay, const LearnerSettings& settings,
                 const std::string& name, std::vector<Tensor> parameters,
                 const std::vector<float>& first)
    : settings_(settings),
      ranks_(replay.ranks),
      parameters_(std::move(parameters)),
      rate_(replay.dial(replay::learning_rate)) {
    const auto n = uint64_t(first.size());
    const auto all = int64_t(n);
    const Tensors& tensors = replay.tensors;
    weights_ = replay.array_with(name + ".weights", first);
    moments_ = tensors.of(replay.ring.array<float>(name + ".moments", {2, n}, true), {2, all});
    updates_ = tensors.of(replay.ring.array<double>(name + ".updates", {1}, true), {});
    gradient_ = tensors.of(replay.ring.array<float>(name + ".gradient", {n}, false), {all});
    adopt(parameters_, weights_);
    int64_t at = 0;
    for (Tensor& parameter : parameters_) {
        parameter.mutable_grad() =
            gradient_.narrow(0, at, parameter.numel()).view(parameter.sizes());
        at += parameter.numel();
    }
}

Tensor Trained::learn(const Tensor& loss, void* stream) {
    gradient_.zero_();
    loss.backward({}, {}, false, parameters_);
    const at::NoGradGuard no_gradient;
    ranks_.average(gradient_, stream);
    const Tensor length = gradient_.norm();
    if (settings_.max_gradient_norm > 0)
        gradient_.mul_((settings_.max_gradient_norm / (length + 1e-6)).clamp_max(1));
    updates_.add_(1);
    const Tensor first = moments_.select(0, 0), second = moments_.select(0, 1);
    first.lerp_(gradient_, 1 - settings_.beta1);
    second.mul_(settings_.beta2).addcmul_(gradient_, gradient_, 1 - settings_.beta2);
    const Tensor first_left = 1 - at::pow(settings_.beta1, updates_),
                 second_left = 1 - at::pow(settings_.beta2, updates_);
    const Tensor spread = (second / second_left).sqrt_().add_(settings_.epsilon);
    weights_.sub_(first / spread * (rate_ / first_left));
    return length;
}

TrainedNetworks::TrainedNetworks(const ReplayTensors& replay, const LearnerSettings& settings,
                                 const std::string& name, const std::function<Networks()>& make,
                                 uint32_t number, bool followed)
    : tau_(settings.tau), networks_(make()) {
    const std::vector<Tensor> parameters = parameters_of(networks_);
    const std::vector<float> first =
        replay::first_weights(layers_of(parameters), replay.ring.host().environment().seed, number);
    trained_ = std::make_unique<Trained>(replay, settings, name, parameters, first);
    if (!followed) return;
    following_ = make();
    std::vector<Tensor> followers = parameters_of(following_);
    following_weights_ = replay.array_with(name + ".following", first);
    adopt(followers, following_weights_);
    for (Tensor& parameter : followers) parameter.set_requires_grad(false);
}

void TrainedNetworks::follow() {
    const at::NoGradGuard no_gradient;
    following_weights_.lerp_(trained_->weights(), tau_);
}

}
