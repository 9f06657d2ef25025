#pragma once
#include "algorithms/policy_gradient/run/past_pools.h"
#include "algorithms/policy_gradient/run/policy_kernels.h"

#include <memory>
#include <nacelle/plugin/learner.h>

// A policy gradient as a learner: its arrays, and the order of its kernels. PPO and A2C are settings of it.
namespace learn {

class PolicyGradient {
public:
    // `external` makes the policies of an algorithm whose networks are computed elsewhere, `describe` those that are none
    // of layers.
    PolicyGradient(const Algorithm& algorithm, nacelle::plugin::Host host, std::string_view config,
                   const MakeExternal& external = {}, const DescribeOwn& describe = {});
    PolicyGradient(const PolicyGradient&) = delete;

    uint64_t steps_per_iteration() const noexcept {
        return uint64_t(settings_.horizon) * environment_.envs;
    }
    void record(void* stream);
    uint32_t most_steps() const { return kernels_->plays() ? ~0u : 0; }
    void act(bool greedy, uint32_t envs, void* stream);
    void act(bool greedy, uint32_t steps, const nacelle_first_episodes* first, void* stream);
    void metrics(nacelle::plugin::Metrics& out);
    const std::string& settings() const { return settings_.resolved; }
    const std::string& policies() const { return policies_; }

private:
    using Kept = nacelle::plugin::Host::Kept;
    template <class T>
    T* array(const std::string& name, std::initializer_list<uint64_t> shape, Kept kept);
    bool as_gpu() const { return environment_.on_gpu || settings_.emulates; }
    bool learns(size_t policy) const {
        return settings_.policies[policy].role == PolicySettings::Role::trained;
    }
    void make_counters();
    void make_group(uint32_t group);
    void make_overviews();
    template <class To>
    void make_normaliser(To& memory, const std::string& name, uint64_t samples, uint64_t width,
                         uint64_t parts, uint32_t choosers);
    void make_policy(uint32_t policy);
    void make_memory(uint32_t policy);
    void make_external(uint32_t policy);
    void make_update(uint32_t policy);
    void fill_policy(uint32_t policy);
    void record_update(size_t policy, void* stream);
    // The critic that gives its values, or the number of all where it has none.
    size_t critic_of(size_t policy) const;
    void add_metrics(size_t policy, const std::string& prefix, nacelle::plugin::Metrics& out);

    nacelle::plugin::Host host_;
    nacelle_environment environment_{};
    Settings settings_;
    Arguments arguments_{};
    std::vector<NetworkShape> shapes_;
    std::string policies_;    // how they act, for checkpoints
    std::unique_ptr<PolicyKernels> kernels_;
    PastPools pools_{host_, settings_};
    bool recorded_ = false;
};

}
