#include "plugins/torch/off_policy/normaliser.h"

#include "algorithms/policy_gradient/device/learn/layout/arguments.h"

namespace torch_learn {

using at::Tensor;

Normaliser::Normaliser(const ReplayTensors& replay, const std::string& group,
                       const learn::Encoder& encoder, bool follows)
    : follows_(follows), ranks_(replay.ranks) {
    const int64_t width = replay.ring.width();
    const auto n = uint64_t(width);
    const Tensors& tensors = replay.tensors;
    float* const scale = replay.ring.array<float>(group + ".obs.scale", {n}, true);
    const std::vector<float> ones(n, 1.0f);
    replay.ring.host().write(scale, ones.data(), n * sizeof(float));
    scale_ = tensors.of(scale, {width});
    mean_ = tensors.of(replay.ring.array<float>(group + ".obs.mean", {n}, true), {width});
    double* const carried = replay.ring.array<double>(group + ".obs.carried", {1 + 2 * n}, true);
    count_ = tensors.of(carried, {});
    means_ = tensors.of(carried + 1, {width});
    squares_ = tensors.of(carried + 1 + n, {width});
    if (!encoder.codes) return;
    codes_ = at::zeros({width}, at::kBool);
    for (int64_t k = 0; k < width; ++k) codes_[k].fill_(encoder.is_code(int(k)));
    codes_ = codes_.to(tensors.device());
}

Tensor Normaliser::operator()(const Tensor& rows) const {
    if (!follows_) return rows;
    const Tensor seen =
        ((rows - mean_) * scale_).clamp(-double(learn::most_normal), double(learn::most_normal));
    return codes_.defined() ? at::where(codes_, rows, seen) : seen;
}

// Sums by batches (Chan and others, 1979).
void Normaliser::follow(const Tensor& rows, void* stream) {
    if (!follows_) return;
    const Tensor all = rows.to(at::kDouble), mean = all.mean(0);
    ranks_.average(mean, stream);
    const Tensor squares = (all - mean).square().sum(0);
    ranks_.add_up(squares, stream);
    const auto n = double(rows.size(0)) * ranks_.count();
    const Tensor whole = count_ + n, off = mean - means_;
    squares_.add_(squares + off.square() * (count_ * n / whole));
    means_.add_(off * (n / whole));
    count_.copy_(whole);
    mean_.copy_(means_);
    scale_.copy_((squares_ / whole + 1e-8).rsqrt());
}

}
