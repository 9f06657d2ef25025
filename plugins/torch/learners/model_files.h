#pragma once
#include "plugins/torch/include/nacelle/torch/model.h"

namespace torch_learn {

// A module of TorchScript, which learns like any other. Its forward takes rows and gives outputs with the value behind them;
// with an attribute `memory` above 0 it takes and gives what rows remember, too.
std::shared_ptr<nacelle::torch_models::Model> open_script(const std::string& path,
                                                          const std::string& where);
// A package of AOTInductor, computed as it is.
std::shared_ptr<nacelle::torch_models::Model> open_package(const std::string& path,
                                                           const std::string& where);

}
