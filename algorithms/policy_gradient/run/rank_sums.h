#pragma once
#include "algorithms/policy_gradient/plan/plan.h"
#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/settings/settings.h"

#include <nacelle/plugin/host.h>

namespace learn {

// What several ranks add up with one another, each at its place in an iteration; nothing where there is one. Where ranks
// reach one another's memory, kernels add up there, but for gradients that are too large for it.
class RankSums final {
public:
    RankSums(nacelle::plugin::Host host, const Settings& settings,
             const nacelle_environment& environment);

    // Once the policies' arrays are there: what kernels hand their sums over in, or the memory that ranks share. `floats`
    // is the room of a policy's gradient there.
    void make_arrays(Arguments& a, const std::vector<PolicyPlan>& policies,
                     const std::vector<uint64_t>& floats);
    // Of the rollout: observations, and returns.
    void add_rollout(const Arguments& a, void* stream) const;
    // Of the advantages of all policies, or of one.
    void add_advantages(const Arguments& a, void* stream) const;
    void add_advantages(const Arguments& a, size_t policy, void* stream) const;
    // Of a minibatch: the gradient and the tallies behind it.
    void add_gradient(const Arguments& a, size_t policy, const PolicyPlan& plan,
                      void* stream) const;

private:
    bool hands_over() const { return ranks_ > 1 && !peers_; }
    void make_peers(Arguments& a, const std::vector<PolicyPlan>& policies,
                    const std::vector<uint64_t>& floats);

    void all_reduce(const Arguments& a, uint64_t first, uint64_t count, void* stream) const;

    nacelle::plugin::Host host_;
    const Settings& settings_;
    uint32_t ranks_, rank_;
    bool peers_;
    std::vector<uint64_t> seen_;    // by each group
    uint64_t overview_;             // numbers that critics see of an environment
    size_t policies_;
    uint64_t size_ = OfRanks::obs;    // of what rollouts and advantages hand over
};

// Floats of a policy's gradient and of the tallies behind it, where the communicator brings them together: one gradient, or
// that of each rank at its place.
uint64_t handed_over_floats(const Settings& settings, const PolicyPlan& policy);

}
