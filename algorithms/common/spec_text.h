#pragma once
#include "algorithms/common/policy_kernels.h"
#include "algorithms/common/schema_view.h"

namespace learn {

// What is compiled: a Spec for each policy, then kernels. They are five programs, which compile side by side,
// the longest first. Those of rollouts and of evaluations carry the author's file; the others need its sizes alone.
// Those of updates and of learning are empty where nobody learns, that of evaluations where one launch takes one step;
// a CPU has that of learning in the rest, since each program costs its compiler the headers anew.
struct ProgramTexts {
    std::string update, rollout, play, rest, learning;
};
ProgramTexts program_texts(const Settings& settings, const std::vector<NetworkShape>& shapes,
                           const SchemaView& schema, RolloutForm rollout_form, bool as_gpu);

}
