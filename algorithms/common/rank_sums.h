#pragma once
#include "algorithms/common/schema_view.h"
#include "algorithms/common/settings.h"

#include <nacelle/plugin/host.h>

namespace learn {

// What several ranks add up with one another, each at its place in an iteration; nothing where there is one rank.
class RankSums final {
public:
    RankSums(nacelle::plugin::Host host, const Settings& settings,
             const nacelle_environment& environment);

    // Once the environment is there: the arrays that kernels hand their sums over in.
    void make_arrays(Arguments& a);
    // Of the rollout: observations, and returns.
    void add_rollout(const Arguments& a, void* stream) const;
    // Of the advantages of all policies, or of one.
    void add_advantages(const Arguments& a, void* stream) const;
    void add_advantages(const Arguments& a, size_t policy, void* stream) const;
    // Of a minibatch: the gradient and the tallies behind it.
    void add_gradient(const Arguments& a, size_t policy, uint64_t parameters, void* stream) const;
    bool any() const { return ranks_ > 1; }

private:
    nacelle::plugin::Host host_;
    uint32_t ranks_;
    size_t policies_;
    uint64_t size_ = OfRanks::obs;    // of what rollouts and advantages hand over
};

// Floats behind a policy's gradient, where several ranks add it up.
constexpr uint64_t tally_floats = 2 * tally_count;

}
