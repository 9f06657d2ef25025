#include "plugins/torch/off_policy/method.h"

namespace torch_learn {

using at::Tensor;

std::vector<int64_t> NetworkMaker::widths(int64_t beside, int64_t outputs) const {
    std::vector<int64_t> all = {(encoder.count ? encoder.width() : replay.ring.width()) + beside};
    all.insert(all.end(), settings.policy.hidden.begin(), settings.policy.hidden.end());
    all.push_back(outputs);
    return all;
}
std::shared_ptr<Layers> NetworkMaker::network(int64_t beside, int64_t outputs) const {
    return std::make_shared<Layers>(encoder, widths(beside, outputs), settings.policy.cells,
                                    settings.policy.activation);
}

Tensor weighed(const ReplayTensors& replay, const Tensor& losses, void* stream) {
    const Samples& samples = replay.samples;
    if (!samples.weight.defined()) return losses.mean();
    const Tensor heaviest = samples.weight.max();
    replay.ranks.keep_most(heaviest, stream);
    return (losses * (samples.weight / heaviest)).mean();
}
void prioritise(const LearnerSettings& settings, const ReplayTensors& replay, const Tensor& off,
                void* stream) {
    const Samples& samples = replay.samples;
    if (!samples.priority.defined()) return;
    samples.priority.copy_((off.detach().abs() + 1e-6).pow(settings.priority));
    samples.most_priority.copy_(at::maximum(samples.most_priority, samples.priority.max()));
    replay.ranks.keep_most(samples.most_priority, stream);
}

}
