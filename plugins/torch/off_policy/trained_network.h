#pragma once
#include "plugins/torch/learners/layers.h"
#include "plugins/torch/off_policy/samples.h"
#include "plugins/torch/off_policy/settings.h"

namespace torch_learn {

// Parameters in one array of the learner's, with what Adam keeps of them. All of it is part of checkpoints.
class Trained final {
public:
    // The parameters become views of the array, which begins with these numbers.
    Trained(const ReplayTensors& replay, const LearnerSettings& settings, const std::string& name,
            std::vector<at::Tensor> parameters, const std::vector<float>& first);

    const at::Tensor& weights() const { return weights_; }
    // Follows the loss's gradient, whose length is returned.
    at::Tensor learn(const at::Tensor& loss, void* stream);

private:
    const LearnerSettings& settings_;
    const RankTensors& ranks_;
    std::vector<at::Tensor> parameters_;
    at::Tensor weights_, gradient_, moments_, updates_, rate_;
};

using Networks = std::vector<std::shared_ptr<Layers>>;

// Networks that learn, and, where wished, others that follow them slowly: those that say what an update aims at.
class TrainedNetworks final {
public:
    // `make` makes them; `number` tells their first weights apart from those of others.
    TrainedNetworks(const ReplayTensors& replay, const LearnerSettings& settings,
                    const std::string& name, const std::function<Networks()>& make, uint32_t number,
                    bool followed);

    const Networks& now() const { return networks_; }
    const Networks& following() const { return following_; }
    at::Tensor learn(const at::Tensor& loss, void* stream) { return trained_->learn(loss, stream); }
    void follow();

private:
    double tau_;
    Networks networks_, following_;
    std::unique_ptr<Trained> trained_;
    at::Tensor following_weights_;
};

}
