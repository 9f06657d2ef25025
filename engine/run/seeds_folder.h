#pragma once
#include "engine/run/directory.h"

namespace nacelle {

// A folder of runs that differ in their seeds alone:
//
//     seeds.json     the seeds, and the configuration of all
//     seed-K/        the run with seed K
struct SeedsFolder {
    std::filesystem::path path;
    uint64_t first = 1, count = 1;
    Json configuration;    // without a seed
    std::string where;     // the configuration's name in messages

    std::filesystem::path run_of(uint64_t seed) const;
    // The configuration of the run with this seed.
    Json configuration_of(uint64_t seed) const;
};

inline constexpr uint64_t most_seeds = 10000;    // of one folder
inline constexpr int64_t largest_seed = int64_t(1) << 53;

// Throws where it holds the runs of seeds, or one run.
void require_no_seeds(const std::filesystem::path& path);
void write_seeds(const SeedsFolder& folder);
// Takes back write_seeds().
void remove_seeds(const SeedsFolder& folder);
SeedsFolder read_seeds(const std::filesystem::path& path);

// The runs in folders seed-K, in the order of K.
std::vector<std::filesystem::path> seed_runs(const std::filesystem::path& path);

}
