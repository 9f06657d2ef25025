#pragma once
#include "plugins/torch/learners/tensors.h"

#include <nacelle/plugin/host.h>

namespace torch_learn {

// What each rank has of its own samples becomes what all of them have; nothing happens where one trains alone. All of it is
// put on the stream: where that is being captured, it is part of the graph.
class RankTensors final {
public:
    explicit RankTensors(nacelle::plugin::Host host) : host_(host), count_(host.ranks().ranks) {}

    uint32_t count() const { return count_; }
    // Sums of floats or of doubles that lie side by side.
    void add_up(const at::Tensor& numbers, void* stream) const;
    // Means, where each rank has as many samples.
    void average(const at::Tensor& means, void* stream) const;
    // Means, where this rank has `own` of `all` samples, both floats.
    void average(const at::Tensor& means, const at::Tensor& own, const at::Tensor& all,
                 void* stream) const;
    // The most of floats.
    void keep_most(const at::Tensor& numbers, void* stream) const;

private:
    nacelle::plugin::Host host_;
    uint32_t count_;
};

}
