#pragma once
#include "algorithms/common/policy_kernels.h"

namespace learn {

// What is compiled behind the author's file: a Spec for each policy, then the kernels.
std::string program_text(const Settings& settings, size_t groups, Flight flight, bool as_gpu);

}
