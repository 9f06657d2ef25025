#pragma once
#include "algorithms/replay/replay.h"
#include "plugins/torch/learners/gpu.h"
#include "plugins/torch/learners/rank_tensors.h"

namespace torch_learn {

// A minibatch as tensors, the same memory each time. What there is none of is undefined.
struct Samples {
    at::Tensor obs, next_obs;                         // [size][width]
    at::Tensor action;                                // [size][parts]
    at::Tensor reward, discount, weight, priority;    // [size]
    at::Tensor most_priority;                         // [1]
    at::Tensor mask, next_mask;                       // [size][choices]
    at::Tensor noise;                                 // [2][size][reals]
};

// A replay's arrays as tensors.
class ReplayTensors final {
public:
    explicit ReplayTensors(const replay::Replay& its_replay);

    const replay::Replay& ring;
    RankTensors ranks;
    Tensors tensors;
    at::Tensor standing, outputs;    // [rows][...]
    Samples samples;
    at::Tensor dial(replay::Dial dial) const { return dials_[dial]; }
    // A new array that is part of checkpoints and begins with these numbers.
    at::Tensor array_with(const std::string& name, const std::vector<float>& numbers) const;

private:
    at::Tensor dials_;
};

// What is free where the environment is.
uint64_t free_bytes(Gpu* gpu);

}
