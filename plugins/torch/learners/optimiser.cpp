#include "plugins/torch/learners/optimiser.h"

namespace torch_learn {

using at::Tensor;

Optimiser::Optimiser(const Tensors& tensors, const learn::PolicyState& state, int64_t parameters)
    : weights_(tensors.of(state.weights, {parameters})),
      gradient_(tensors.of(state.total, {parameters})),
      first_(tensors.of(state.moment, {parameters})),
      second_(tensors.of(state.moment + parameters, {parameters})),
      dials_(tensors.of(state.dials, {learn::dial_count})),
      found_(tensors.of(state.found, {learn::found_count})),
      carried_(tensors.of(state.carried, {learn::carried_count})),
      sums_(tensors.of(state.sums, {learn::tally_count})) {}

// Whether the step is made.
Tensor Optimiser::decide(const Tensor& tally) {
    const Tensor stopped = found(learn::stopped).ne(0), most = dial(learn::target_kl);
    const Tensor kl = tally[learn::kl] / tally[learn::weight].clamp_min(1);
    const Tensor too_far = most.gt(0).logical_and(kl.gt(most));
    const Tensor ends = stopped.logical_or(too_far), goes = ends.logical_not();
    sums_ += tally * stopped.logical_not();
    found(learn::too_far).copy_(ends);
    found(learn::stopped).copy_(ends);
    found(learn::update_count) += goes;
    const Tensor first = carried_[learn::updates].eq(0);
    carried_[learn::updates] += goes;
    for (const auto& [power, beta] : {std::pair(learn::beta1_power, learn::beta1),
                                      std::pair(learn::beta2_power, learn::beta2)}) {
        const Tensor before = at::where(first, at::ones_like(carried_[power]), carried_[power]);
        const Tensor after = before * dial(beta).to(at::kDouble);
        carried_[power].copy_(at::where(goes, after, carried_[power]));
    }
    return goes;
}

void Optimiser::step(const Tensor& tally) {
    const Tensor goes = decide(tally);
    const Tensor norm = gradient_.to(at::kDouble).square().sum().sqrt();
    const Tensor longest = dial(learn::most_norm).to(at::kDouble);
    const Tensor cut = longest.gt(0).logical_and(norm.gt(longest));
    const Tensor scale = at::where(cut, longest / norm, at::ones_like(norm));
    found(learn::gradient_norm).copy_(at::where(goes, norm, found(learn::gradient_norm)));
    const Tensor g = gradient_ * scale.to(at::kFloat);
    const Tensor keep1 = dial(learn::beta1), keep2 = dial(learn::beta2),
                 rate = dial(learn::learning_rate);
    const Tensor m = keep1 * first_ + (1 - keep1) * g, v = keep2 * second_ + (1 - keep2) * g * g;
    const auto left = [&](learn::Carried power) {
        return (1 / (1 - carried_[power])).to(at::kFloat);
    };
    const Tensor way = m * left(learn::beta1_power) /
                       ((v * left(learn::beta2_power)).sqrt() + dial(learn::epsilon));
    const Tensor decay = rate * dial(learn::weight_decay);
    weights_.copy_(at::where(goes, weights_ - decay * weights_ - rate * way, weights_));
    first_.copy_(at::where(goes, m, first_));
    second_.copy_(at::where(goes, v, second_));
}

}
