#pragma once
#include "engine/run/evaluation.h"
#include "engine/run/seeds_folder.h"

namespace nacelle::tools {

// What came of the run with one seed.
struct SeedResult {
    uint64_t seed = 0;
    std::filesystem::path out;
    bool begun = false, solved = false, stopped = false, interrupted = false;
    uint64_t steps = 0;
    double seconds = 0;    // of the run, over all processes
    std::optional<Evaluation> evaluation;
    bool greedy = true;                        // how it was evaluated
    std::optional<double> trained_return{};    // the last one of training, where actions are drawn
    std::vector<std::filesystem::path> recordings;
    std::string failure;    // empty where it did not fail
};

struct SeedsReport {
    std::filesystem::path out;
    std::vector<SeedResult> seeds;
    double seconds = 0;
    std::string how;    // they were run: "2 side by side, 1 thread each"
};

void print_report(const SeedsReport& report);
// A line for each seed, then one for all.
void print_report_lines(const SeedsReport& report);
bool any_failed(const SeedsReport& report);

}
