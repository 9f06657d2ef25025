#pragma once
#include "engine/run/seeds_folder.h"
#include "tools/training.h"

namespace nacelle::tools {

// Trains with seeds seed, seed + 1, ... in folders of one folder: `out`, or else the first free one of next-1, -2.
void train_seeds(Training& training, const Json& configuration, const std::string& where,
                 uint64_t count, const std::filesystem::path& out,
                 const std::filesystem::path& next);
// Goes on with all runs of a folder of seeds that are not finished, begins those that are not there, and reports on
// all.
void resume_seeds(Training& training, const std::filesystem::path& folder, bool changed_source);

}
