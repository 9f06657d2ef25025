#pragma once
#include "tools/run_curves.h"

namespace nacelle::tools {

// A setting that is not the same in all runs: its path, and its value in each that has one.
struct SettingDifference {
    std::string path;
    std::vector<std::optional<Json>> values;
};
// Each configuration is that of a group; those of several seeds have no seed of their own.
std::vector<SettingDifference> setting_differences(const std::vector<RunGroup>& groups,
                                                   std::vector<Json> configurations);

// A file of the author that differs between two runs, in their last versions.
struct SourceDifference {
    std::string file;
    std::string reason;                // "is only in cartpole-1"; empty where there are lines
    std::vector<std::string> lines;    // of a unified diff
};
std::vector<SourceDifference> source_differences(const RunGroup& before, const RunGroup& after);

}
