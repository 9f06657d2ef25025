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

Tensor weighed(const Samples& samples, const Tensor& losses) {
    if (!samples.weight.defined()) return losses.mean();
    return (losses * (samples.weight / samples.weight.max())).mean();
}
void prioritise(const LearnerSettings& settings, const Samples& samples, const Tensor& off) {
    if (!samples.priority.defined()) return;
    samples.priority.copy_((off.detach().abs() + 1e-6).pow(settings.priority));
    samples.most_priority.copy_(at::maximum(samples.most_priority, samples.priority.max()));
}

}
