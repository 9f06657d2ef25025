#pragma once
#include "engine/base/mean_interval.h"
#include "tools/run_curves.h"

namespace nacelle::tools {

// A number over the runs of a group that have one.
struct OverRuns {
    size_t count = 0;
    MeanInterval mean;
};

// What came of the runs of a group, by their metrics. The return is that of evaluations, or, where there are none, that
// of training.
struct GroupOutcome {
    size_t solved = 0;
    bool evaluated = false;
    OverRuns steps, last_return, best_return, steps_to_solved, seconds_to_solved, rate;
};
GroupOutcome outcome_of(const std::vector<RunSeries>& series);

}
