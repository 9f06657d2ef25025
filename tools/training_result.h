#pragma once
#include "engine/run/diagnosis.h"
#include "engine/run/run.h"

namespace nacelle::tools {

// Seconds until the device was open, that compiling and loading took, and of the whole command.
struct RunTimes {
    double opened = 0, loaded = 0, whole = 0;
};

// The evaluations at a run's end: the one that counts by run.evaluate, and that of the policy's other way to act.
struct RunResult {
    std::optional<Evaluation> counted, other;    // nothing where it was interrupted
    bool counted_is_greedy = true;
    std::vector<Suspicion> suspicions;
};

// Plays the other way where it may count, and where it is to be `compared`.
RunResult evaluate_run(TrainingRun& run, uint64_t episodes, const std::function<bool()>& stop,
                       bool compared = true);
// What its metrics and its arrays show, at the end of everything: it may step the environments. A run that is solved is
// not suspected.
std::vector<Suspicion> suspicions_of(TrainingRun& run, const Diagnosis& diagnosis,
                                     const std::function<bool()>& stop);
void print_result(const TrainingRun& run, const RunResult& result, const RunTimes& times,
                  bool interrupted);
Json result_json(const TrainingRun& run, const RunResult& found, const RunTimes& times,
                 bool interrupted);
// For a run that was resumed and was over already: says so, and what makes it take more steps.
void print_how_to_go_on(const TrainingRun& run);

}
