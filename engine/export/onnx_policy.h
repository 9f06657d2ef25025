#pragma once
#include "engine/export/policy_tensors.h"

#include <string_view>

namespace nacelle {

// A policy as an ONNX model. Inputs: `observations`; `masks` where there are choices; `memory` and `value_memory` where
// the policy and what tells values remember. Outputs: `actions`, the most probable ones; `logits`, `means` and
// `log_deviations` of its parts; `value`; `next_memory` and `next_value_memory`.
std::string onnx_of(const OpenedPolicy& policy);
// What such a file holds. Throws where it is none, or where its graph is another one than was written.
PolicyContent read_onnx(std::string_view file, const std::string& where);

}
