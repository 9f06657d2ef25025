#pragma once
#include "plugins/torch/learners/captured_work.h"
#include "plugins/torch/off_policy/method.h"

#include <nacelle/plugin/learner.h>

namespace torch_learn {

// A learner with a replay: steps of all environments, then updates by minibatches of all that is kept.
class OffPolicy {
public:
    OffPolicy(const replay::Learner& learner, nacelle::plugin::Host host, std::string_view config,
              Gpu* gpu);
    OffPolicy(const OffPolicy&) = delete;

    uint64_t steps_per_iteration() const noexcept {
        return uint64_t(settings_.horizon) * replay_.rows();
    }
    void record(void* stream);
    void act(bool greedy, void* stream);
    void metrics(nacelle::plugin::Metrics& out);
    const std::string& settings() const { return settings_.resolved; }
    const std::string& policies() const { return policies_; }

private:
    void look(void* stream);
    void take_step(void* stream);
    void update(uint32_t number, void* stream);
    bool is_of_policy(uint64_t update) const {
        return (update + 1) % uint64_t(settings_.policy_every) == 0;
    }

    nacelle::plugin::Host host_;
    LearnerSettings settings_;
    CapturedWork work_;
    learn::Encoder encoder_;
    replay::Replay replay_;
    std::unique_ptr<ReplayTensors> tensors_;
    std::unique_ptr<Normaliser> normal_;
    std::unique_ptr<OffPolicyMethod> method_;
    std::string policies_;
    at::Tensor found_;
    double* numbers_ = nullptr;     // behind it
    int64_t* updates_ = nullptr;    // [1], of the device
    at::Tensor count_;              // the same
    bool begun_ = false;
    uint64_t steps_taken_ = 0, updates_made_ = 0;
};

}
