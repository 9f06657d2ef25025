#include "tools/run_curves.h"

#include "engine/base/error.h"
#include "engine/base/mean_interval.h"
#include "engine/run/seeds_folder.h"

#include <algorithm>
#include <set>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

// Of a curve over several runs, and of one run: as many as a picture can show.
constexpr size_t grid_points = 240, most_points = 1000;

fs::path without_last_slash(const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
}

double x_of(const MetricPoint& point, Abscissa abscissa) {
    return abscissa == Abscissa::steps ? point.step : point.seconds;
}

using Points = std::vector<MetricPoint>;

Points::const_iterator first_from(const Points& points, Abscissa abscissa, double x) {
    return std::lower_bound(
        points.begin(), points.end(), x,
        [&](const MetricPoint& point, double at) { return x_of(point, abscissa) < at; });
}

// The mean of the readings around x; where there are fewer than two, the straight line between its neighbours.
double value_at(const Points& points, Abscissa abscissa, double x, double around) {
    const auto begin = first_from(points, abscissa, x - around / 2),
               end = first_from(points, abscissa, x + around / 2);
    if (end - begin > 1) {
        double sum = 0;
        for (auto point = begin; point != end; ++point) sum += point->value;
        return sum / double(end - begin);
    }
    const auto after = first_from(points, abscissa, x);
    if (after == points.begin()) return points.front().value;
    if (after == points.end()) return points.back().value;
    const MetricPoint &a = after[-1], &b = *after;
    const double width = x_of(b, abscissa) - x_of(a, abscissa);
    return width > 0 ? a.value + (b.value - a.value) * (x - x_of(a, abscissa)) / width : b.value;
}

// The points, or of very many the lowest and the highest of each group: on a picture both look alike.
Points thinned(const Points& points) {
    if (points.size() <= most_points) return points;
    Points kept;
    const size_t groups = most_points / 2;
    const auto lower = [](const MetricPoint& a, const MetricPoint& b) { return a.value < b.value; };
    for (size_t i = 0; i < groups; ++i) {
        const auto begin = points.begin() + std::ptrdiff_t(points.size() * i / groups),
                   end = points.begin() + std::ptrdiff_t(points.size() * (i + 1) / groups);
        auto [low, high] = std::minmax_element(begin, end, lower);
        if (high < low) std::swap(low, high);
        kept.push_back(*low);
        if (high != low) kept.push_back(*high);
    }
    // A curve begins and ends where its run does.
    if (kept.front().step != points.front().step) kept.insert(kept.begin(), points.front());
    if (kept.back().step != points.back().step) kept.push_back(points.back());
    return kept;
}

[[noreturn]] void fail_to_find(const RunGroup& group, const std::vector<RunSeries>& series,
                               const std::string& metric) {
    std::set<std::string> names;
    for (const RunSeries& one : series)
        for (const auto& [name, points] : one.metrics) names.insert(name);
    if (names.empty()) throw Error(group.path.string(), "has no metrics yet");
    std::string there;
    for (const std::string& name : names) there += (there.empty() ? "there is: " : ", ") + name;
    throw Error(group.path.string(), "has no metric '" + metric + "'", there);
}

}

std::string folder_name(const fs::path& path) {
    const fs::path name = without_last_slash(path).filename();
    return (name == "." || name == ".." ? fs::weakly_canonical(path).filename() : name).string();
}

std::vector<RunGroup> run_groups(const std::vector<fs::path>& paths) {
    std::vector<RunGroup> groups;
    std::map<std::string, int> counts;
    for (const fs::path& given : paths) {
        const fs::path path = without_last_slash(given);
        for (const RunGroup& other : groups)
            if (other.path == path) throw Error(path.string(), "is named twice");
        RunGroup group{.name = folder_name(path), .path = path, .runs = {}};
        if (holds_run(path)) group.runs = {path};
        else group.runs = seed_runs(path);
        if (group.runs.empty()) {
            if (holds_seeds(path)) throw Error(path.string(), "none of its seeds has begun");
            run_configuration(path);    // says what is wrong
        }
        ++counts[group.name];
        groups.push_back(std::move(group));
    }
    for (RunGroup& group : groups)
        if (counts[group.name] > 1) group.name = group.path.string();
    return groups;
}

RunSeries read_series(const fs::path& run) {
    RunSeries series{.run = run, .configuration = run_configuration(run), .metrics = {}};
    double last = -1, seconds = 0;
    read_metrics(metrics_file(run, series.configuration), [&](const MetricReading& reading) {
        if (double(reading.step) <= last) return;    // not in order: of another run
        last = double(reading.step);
        const auto found = reading.values.find("seconds"),
                   episodes = reading.values.find("episodes");
        if (found != reading.values.end()) {
            seconds = std::max(seconds, found->second);
            series.has_seconds = true;
        }
        const bool none = episodes != reading.values.end() && episodes->second == 0;
        for (const auto& [name, value] : reading.values)
            if (!none || !name.starts_with("episode."))
                series.metrics[name].push_back({last, seconds, value});
    });
    return series;
}

Curve curve_of(const RunGroup& group, const std::vector<RunSeries>& series,
               const std::string& metric, Abscissa abscissa) {
    std::vector<const Points*> all;
    for (const RunSeries& one : series) {
        const auto found = one.metrics.find(metric);
        if (found == one.metrics.end()) continue;
        if (abscissa == Abscissa::seconds && !one.has_seconds)
            throw Error(one.run.string(), "has no metric 'seconds'",
                        "a run that an earlier version began has none; --x steps needs none");
        all.push_back(&found->second);
    }
    if (all.empty()) fail_to_find(group, series, metric);
    Curve curve{.name = group.name, .runs = all.size()};
    if (all.size() == 1) {
        for (const MetricPoint& point : thinned(*all.front())) {
            curve.x.push_back(x_of(point, abscissa));
            curve.mean.push_back(point.value);
        }
        curve.longest = x_of(all.front()->back(), abscissa);
        return curve;
    }
    double begin = 0, end = 0;
    for (const auto* points : all) {
        const double first = x_of(points->front(), abscissa), last = x_of(points->back(), abscissa);
        begin = points == all.front() ? first : std::max(begin, first);
        end = points == all.front() ? last : std::min(end, last);
        curve.longest = std::max(curve.longest, last);
    }
    if (begin > end)
        throw Error(group.path.string(),
                    "its runs have no range of " +
                        std::string(abscissa == Abscissa::steps ? "steps" : "seconds") +
                        " in common in which they have '" + metric + "'",
                    "name single ones of its runs");
    std::vector<double> values(all.size());
    const size_t count = begin < end ? grid_points : 1;    // or all have one place in common
    const double between = (end - begin) / double(grid_points - 1);
    for (size_t i = 0; i < count; ++i) {
        const double x = i + 1 < count ? begin + between * double(i) : end;
        for (size_t run = 0; run < all.size(); ++run)
            values[run] = value_at(*all[run], abscissa, x, between);
        const MeanInterval mean = mean_interval(values);
        curve.x.push_back(x);
        curve.mean.push_back(mean.mean);
        curve.low.push_back(mean.mean - mean.interval);
        curve.high.push_back(mean.mean + mean.interval);
    }
    return curve;
}

}
