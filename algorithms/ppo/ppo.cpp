// Proximal policy optimisation (Schulman and others, 2017).
// All of its settings are in policy_gradient/settings/settings.cpp, its loss in policy_gradient/device/learn/formulas/loss.h.
#include "algorithms/policy_gradient/run/policy_gradient.h"

namespace {

constexpr learn::Algorithm algorithm{.name = "ppo",
                                     .clips = true,
                                     .horizon = 128,
                                     .epochs = 4,
                                     .minibatches = 4,
                                     .learning_rate = 1e-3,
                                     .entropy = 0.01};

class Ppo final : public learn::PolicyGradient {
public:
    static constexpr const char* name = algorithm.name;
    Ppo(nacelle::plugin::Host host, std::string_view config)
        : PolicyGradient(algorithm, host, config) {}
};

}

NACELLE_PLUGIN("nacelle.ppo", "1.0.0", "Proximal policy optimisation",
               nacelle::plugin::Learner<Ppo>)
