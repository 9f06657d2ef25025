#pragma once
#include "algorithms/policy_gradient/device/learn/formulas/conv.h"
#include "plugins/torch/off_policy/samples.h"

namespace torch_learn {

// The mean and the spread of all observations so far, by which networks see them. Codes are seen as they are.
class Normaliser final {
public:
    Normaliser(const ReplayTensors& replay, const std::string& group, const learn::Encoder& encoder,
               bool follows);

    at::Tensor operator()(const at::Tensor& rows) const;
    void follow(const at::Tensor& rows, void* stream);

private:
    bool follows_;
    const RankTensors& ranks_;
    at::Tensor mean_, scale_, codes_;
    at::Tensor count_, means_, squares_;    // in doubles; squares about the means
};

}
