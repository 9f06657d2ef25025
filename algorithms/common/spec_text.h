#pragma once
#include "algorithms/common/policy_kernels.h"
#include "algorithms/common/schema_view.h"

namespace learn {

// What is compiled behind the author's file: a Spec for each policy, then kernels. They are four programs,
// which compile side by side, the longest first. Those of updates and of learning are empty where nobody learns;
// a CPU has that of learning in the rest, since each program costs its compiler the headers anew.
struct ProgramTexts {
    std::string update, rollout, rest, learning;
};
ProgramTexts program_texts(const Settings& settings, const SchemaView& schema, Flight flight,
                           bool as_gpu);

}
