#include "plugins/torch/learners/rank_tensors.h"

namespace torch_learn {

using at::Tensor;

void RankTensors::add_up(const Tensor& numbers, void* stream) const {
    if (count_ == 1) return;
    const auto n = uint64_t(numbers.numel());
    if (numbers.scalar_type() == at::kDouble)
        host_.all_reduce(numbers.data_ptr<double>(), n, NACELLE_SUM, stream);
    else host_.all_reduce(numbers.data_ptr<float>(), n, NACELLE_SUM, stream);
}
void RankTensors::average(const Tensor& means, void* stream) const {
    if (count_ == 1) return;
    add_up(means, stream);
    means.div_(double(count_));
}
void RankTensors::average(const Tensor& means, const Tensor& own, const Tensor& all,
                          void* stream) const {
    if (count_ == 1) return;
    means.mul_(own);
    add_up(means, stream);
    means.div_(all);
}
void RankTensors::keep_most(const Tensor& numbers, void* stream) const {
    if (count_ == 1) return;
    host_.all_reduce(numbers.data_ptr<float>(), uint64_t(numbers.numel()), NACELLE_MAX, stream);
}

}
