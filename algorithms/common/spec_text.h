#pragma once
#include "algorithms/common/policy_kernels.h"
#include "algorithms/common/schema_view.h"

namespace learn {

// What is compiled behind the author's file: a Spec for each policy, then kernels. They are three programs,
// which compile side by side; the one of updates is empty where nobody learns.
struct ProgramTexts {
    std::string rollout, update, rest;
};
ProgramTexts program_texts(const Settings& settings, const SchemaView& schema, Flight flight,
                           bool as_gpu);

}
