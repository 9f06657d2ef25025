#pragma once
#include "engine/run/metrics_file.h"

namespace nacelle::tools {

// The name of a folder, also of "." and "..".
std::string folder_name(const std::filesystem::path& path);
// Runs that are shown as one: a single run, or those of a folder of seeds.
struct RunGroup {
    std::string name;    // unique among the groups
    std::filesystem::path path;
    std::vector<std::filesystem::path> runs;
};
// Throws where a path holds neither a run nor runs of seeds, or is named twice.
std::vector<RunGroup> run_groups(const std::vector<std::filesystem::path>& paths);

// A value of a metric, and when it was read.
struct MetricPoint {
    double step = 0, seconds = 0, value = 0;
};
// All metrics of one run by their names. What episodes tell is left out where none had ended.
struct RunSeries {
    std::filesystem::path run;
    Json configuration;
    std::map<std::string, std::vector<MetricPoint>> metrics;
    bool has_seconds = false;
};
RunSeries read_series(const std::filesystem::path& run);

// What the curves are drawn over.
enum class Abscissa { steps, seconds };

// The mean of a metric over the runs of a group, with its 95 % interval where there are several: where all have it.
struct Curve {
    std::string name;      // of the group
    size_t runs = 0;       // that have the metric
    double longest = 0;    // the end of the longest run
    std::vector<double> x, mean, low, high;
};
// Throws where no run has the metric, with those that there are, or where they have no range in common.
Curve curve_of(const RunGroup& group, const std::vector<RunSeries>& series,
               const std::string& metric, Abscissa abscissa);

}
