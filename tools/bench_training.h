#pragma once
#include "engine/run/training_benchmark.h"
#include "tools/options.h"

namespace nacelle::tools {

// 'bench --train'
struct TrainingBench {
    const Options& options;
    const std::vector<std::string>& environments;    // none, and no file: the standard table
    const std::vector<uint32_t>& counts;             // none: as configured
    TrainingMeasure measure;
};

// A row for each configuration. One that cannot be trained with is a row that says why, where there are
// others; where nothing at all was measured the program ends with 1.
void run(const TrainingBench& bench);

}
