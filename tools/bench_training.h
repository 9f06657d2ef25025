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

// Prints a row for each configuration; where one of several cannot be trained with, its row says why. Exits with 1
// where nothing was measured.
void run(const TrainingBench& bench);

}
