#pragma once
#include "algorithms/policy_gradient/plan/networks.h"

#include <nacelle/plugin/learner.h>

namespace learn {

// The pools of past policies of a run: their arrays, all of which a checkpoint holds, and what is told of them.
class PastPools final {
public:
    PastPools(nacelle::plugin::Host host, const Settings& settings)
        : host_(host), settings_(settings) {}

    // Where there are any; once the policies have their arrays.
    void make_arrays(Arguments& a, const std::vector<NetworkShape>& shapes,
                     const nacelle_environment& environment);
    // What ranks have counted in an iteration.
    void add_up_ranks(void* stream) const;
    void add_metrics(size_t policy, const std::string& prefix, nacelle::plugin::Metrics& out) const;

private:
    PastPool make(size_t policy, const NetworkShape& shape,
                  const nacelle_environment& environment) const;

    nacelle::plugin::Host host_;
    const Settings& settings_;
    std::vector<PastPool> pools_;    // of all policies
};

}
