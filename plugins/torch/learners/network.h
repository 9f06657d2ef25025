#pragma once
#include "algorithms/policy_gradient/plan/networks.h"

#include "plugins/torch/include/nacelle/torch/model.h"

namespace torch_learn {

using nacelle::torch_models::Model;

// The layers that `hidden` lists, with parameters in the order in which the kernels of `ppo` have them.
std::shared_ptr<Model> make_network(const learn::NetworkShape& shape,
                                    const learn::PolicySettings& policy);

}
