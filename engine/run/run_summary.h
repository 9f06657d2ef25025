#pragma once
#include "engine/config/config.h"

#include <ctime>

namespace nacelle {

// A seed of several that has not begun waits.
enum class RunProgress { running, solved, ended, stopped, failed, damaged, waiting };
const char* progress_name(RunProgress progress);

// What can be said of a run without loading it.
struct RunSummary {
    std::filesystem::path path;
    std::time_t changed = 0;    // the newest of its files
    std::string environment, learner;
    uint64_t seed = 0, steps = 0, total_steps = 0;
    std::optional<double> best;        // the mean return of its best evaluation
    std::optional<double> returned;    // the mean return of the last reading of its metrics
    RunProgress progress = RunProgress::stopped;
    std::string wrong;    // why it failed, or what is damaged
};

// Whether the folder is a run's, be it damaged.
bool is_run(const std::filesystem::path& folder);
// Never throws for a damaged run: the summary says what is wrong.
RunSummary summarise_run(const std::filesystem::path& run);
// Of a folder that cannot be looked into, which may be a run's.
std::optional<RunSummary> summarise_closed(const std::filesystem::path& folder);
// All seeds of a folder in their order, also those that have not begun; empty where it holds none.
std::vector<RunSummary> summarise_seeds(const std::filesystem::path& folder);

}
