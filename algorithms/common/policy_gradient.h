#pragma once
#include "algorithms/common/networks.h"

#include <nacelle/plugin/learner.h>

// A policy gradient as a learner: its arrays, its kernels and their order. PPO and A2C are settings of it.
namespace learn {

class PolicyGradient {
public:
    PolicyGradient(const Algorithm& algorithm, nacelle::plugin::Host host, std::string_view config);

    uint64_t steps_per_iteration() const noexcept {
        return uint64_t(settings_.horizon) * environment_.envs;
    }
    void record(void* stream);
    void act(bool greedy, void* stream);
    void metrics(nacelle::plugin::Metrics& out);
    const std::string& settings() const { return settings_.resolved; }

private:
    struct Kernels {    // of one policy
        nacelle_kernel act, prepare, land, measure_returns, scale_rewards, find_advantages,
            sum_advantages, measure_minibatch, scale_minibatch, review, gradient, total, decide,
            adam;
    };
    struct Watchers {    // of one group
        nacelle_kernel measure, follow;
    };

    template <class T>
    T* array(const std::string& name, std::initializer_list<uint64_t> shape, bool persistent);
    // Whether the kernels are those of a GPU, which threads of the host can also run.
    bool as_gpu() const { return environment_.on_gpu || settings_.emulates; }
    bool has_network(size_t policy) const {
        return settings_.policies[policy].role != PolicySettings::Role::random;
    }
    bool learns(size_t policy) const {
        return settings_.policies[policy].role == PolicySettings::Role::trained;
    }
    void make_group(uint32_t group);
    void make_policy(uint32_t policy);
    void make_update(uint32_t policy);
    void fill_policy(uint32_t policy);
    void compile();
    void launch(const nacelle_kernel& kernel, uint64_t items, void* stream);
    void mark(uint32_t moment, void* stream);
    void prepare(void* stream);
    void record_advantages(size_t policy, void* stream);
    void record_update(size_t policy, void* stream);
    void add_metrics(size_t policy, const std::string& prefix, nacelle::plugin::Metrics& out);

    nacelle::plugin::Host host_;
    nacelle_environment environment_{};
    Settings settings_;
    Arguments arguments_{};
    std::vector<NetworkShape> shapes_;
    std::vector<uint32_t> group_rows_, group_widths_;
    nacelle_kernel begin_{}, finish_{}, rollout_{}, mark_{};
    std::vector<Kernels> kernels_;
    std::vector<Watchers> watchers_;
};

}
