#pragma once
#include "algorithms/off_policy/layers.h"
#include "algorithms/replay/replay.h"

#include <nacelle/plugin/learner.h>

namespace off_policy {

// A learner with a replay: steps of all environments, then updates by minibatches of all that is kept.
class OffPolicy {
public:
    OffPolicy(const replay::Learner& learner, nacelle::plugin::Host host, std::string_view config);
    OffPolicy(const OffPolicy&) = delete;

    uint64_t steps_per_iteration() const noexcept {
        return uint64_t(settings_.horizon) * replay_.rows();
    }
    void record(void* stream);
    void act(bool greedy, uint32_t envs, void* stream);
    void metrics(nacelle::plugin::Metrics& out);
    const std::string& settings() const { return settings_.resolved; }
    const std::string& policies() const { return policies_; }

private:
    bool acts() const { return settings_.method != replay::Method::dqn; }
    void make_policy();
    void make_values();
    void make_numbers();
    void make_peers();
    void fill_arguments();
    // Weights as kernels read them: a checkpoint may have brought others.
    void prepare(void* stream) const;
    void observe(uint64_t rows, void* stream);    // the first of them
    void take_step(void* stream);
    void update(uint32_t number, void* stream);
    void learn_values(void* stream) const;
    void learn_policy(void* stream) const;
    uint64_t samples() const { return settings_.batch / replay_.ranks(); }    // of this rank
    bool hands_over() const { return replay_.ranks() > 1 && !place_.peers; }
    // A step of Adam by the gradient that products have left.
    void optimise(const Step& step, void* stream) const;
    void launch(const char* name, uint64_t items, void* stream) const {
        kernels_.launch(name, items, arguments_, stream);
    }
    const double* gate(Gate which) const {
        return arguments_.gates + uint32_t(which) * learn::found_count;
    }
    Step step_of(const Networks& networks, Gate learns, Gate follows) const;
    std::vector<const char*> names() const;

    nacelle::plugin::Host host_;
    replay::LearnerSettings settings_;
    Place place_;
    replay::Replay replay_;
    Kernels kernels_;
    Arrays arrays_;
    Layers layers_;
    std::string policies_;
    Arguments arguments_{};
    Networks policy_{}, values_{};    // of DQN the first ones alone
    // Rows inside networks: of the environments, and of a minibatch.
    Levels standing_, then_policy_, now_policy_, then_values_[2], now_values_[2],
        proposed_values_[2];
    Step policy_step_{}, value_step_{};
};

}
