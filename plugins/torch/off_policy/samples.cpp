#include "plugins/torch/off_policy/samples.h"

#include "algorithms/replay/free_memory.h"

namespace torch_learn {

ReplayTensors::ReplayTensors(const replay::Replay& its_replay)
    : ring(its_replay), ranks(its_replay.host()), tensors(ring.host().environment().on_gpu) {
    const replay::Arguments& a = ring.arguments();
    const replay::Batch& b = a.batch;
    const auto rows = int64_t(ring.rows()), n = int64_t(b.size);
    const int64_t width = ring.width(), parts = ring.parts(), open = ring.choices();
    standing = tensors.of(a.standing, {rows, width});
    outputs = tensors.of(a.outputs, {rows, ring.output_count()});
    dials_ = tensors.of(a.dials, {replay::dial_count});
    samples = {.obs = tensors.of(b.obs, {n, width}),
               .next_obs = tensors.of(b.next_obs, {n, width}),
               .action = tensors.of(b.action, {n, parts}),
               .reward = tensors.of(b.reward, {n}),
               .discount = tensors.of(b.discount, {n}),
               .weight = tensors.of(b.weight, {n}),
               .priority = tensors.of(b.priority, {n}),
               .most_priority = tensors.of(a.tree.most, {1}),
               .mask = tensors.of(b.mask, {n, open}),
               .next_mask = tensors.of(b.next_mask, {n, open}),
               .noise = tensors.of(b.noise, {2, n, parts})};
}
at::Tensor ReplayTensors::array_with(const std::string& name,
                                     const std::vector<float>& numbers) const {
    float* const array = ring.array<float>(name, {numbers.size()}, true);
    ring.host().write(array, numbers.data(), numbers.size() * sizeof(float));
    return tensors.of(array, {int64_t(numbers.size())});
}

uint64_t free_bytes(Gpu* gpu) { return gpu ? gpu->free_bytes() : replay::free_bytes(false); }

}
