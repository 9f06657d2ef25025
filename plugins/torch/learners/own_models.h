#pragma once
#include "algorithms/policy_gradient/plan/networks.h"

#include "plugins/torch/include/nacelle/torch/model.h"
#include <nacelle/plugin/host.h>

namespace torch_learn {

using nacelle::torch_models::Model;

// The networks of policies whose setting "model" names one: of a plugin, or a file of TorchScript or AOTInductor.
class OwnModels final {
public:
    explicit OwnModels(nacelle::plugin::Host host) : host_(host) {}

    // Makes the policy's, tries it, and says what it has.
    void describe(learn::PolicySettings& policy, const nacelle_environment& environment);
    // Null where the policy has layers.
    std::shared_ptr<Model> of(const std::string& policy) const;
    bool all_captured() const;

private:
    const nacelle::torch_models::Table& offered(const std::string& name,
                                                const std::string& where) const;
    std::shared_ptr<Model> make(const learn::PolicySettings& policy,
                                const nacelle::torch_models::Sizes& sizes, uint64_t seed) const;

    nacelle::plugin::Host host_;
    std::vector<std::pair<std::string, std::shared_ptr<Model>>> made_;
};

}
