// Advantage actor-critic (Mnih and others, 2016), all environments in step.
// All of its settings are in policy_gradient/settings/settings.cpp, its loss in policy_gradient/device/learn/formulas/loss.h.
#include "algorithms/policy_gradient/run/policy_gradient.h"

namespace {

constexpr learn::Algorithm algorithm{.name = "a2c",
                                     .clips = false,
                                     .horizon = 8,
                                     .epochs = 1,
                                     .minibatches = 1,
                                     .learning_rate = 1e-3,
                                     .entropy = 0.01};

class A2c final : public learn::PolicyGradient {
public:
    static constexpr const char* name = algorithm.name;
    A2c(nacelle::plugin::Host host, std::string_view config)
        : PolicyGradient(algorithm, host, config) {}
};

}

NACELLE_PLUGIN("nacelle.a2c", "1.0.0", "Advantage actor-critic", nacelle::plugin::Learner<A2c>)
