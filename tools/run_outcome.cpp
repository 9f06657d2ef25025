#include "tools/run_outcome.h"

#include "engine/run/run_state.h"
#include "engine/run/run_summary.h"

#include <algorithm>

namespace nacelle::tools {
namespace {

using Points = std::vector<MetricPoint>;

const Points* points_of(const RunSeries& one, const std::string& metric) {
    const auto found = one.metrics.find(metric);
    return found == one.metrics.end() ? nullptr : &found->second;
}

// The first evaluation that reached the return at which the run counts as solved.
const MetricPoint* solved_at(const RunSeries& one) {
    const Json::json_pointer place("/solved/return");
    const Points* const points = points_of(one, "evaluation.return");
    if (!points || !one.configuration.contains(place) || !one.configuration[place].is_number())
        return nullptr;
    const double wanted = one.configuration[place].get<double>();
    const auto found = std::find_if(points->begin(), points->end(), [&](const MetricPoint& point) {
        return point.value >= wanted;
    });
    return found == points->end() ? nullptr : &*found;
}

// Steps a second over the whole run, or the mean of what was read where it has no seconds.
std::optional<double> rate_of(const RunSeries& one) {
    const Points* const points = points_of(one, "steps_per_second");
    if (!points || points->empty()) return {};
    const MetricPoint& last = points->back();
    if (one.has_seconds && last.seconds > 0) return last.step / last.seconds;
    double sum = 0;
    for (const MetricPoint& point : *points) sum += point.value;
    return sum / double(points->size());
}

OverRuns over_runs(const std::vector<double>& values) {
    return {values.size(), mean_interval(values)};
}

}

GroupOutcome outcome_of(const std::vector<RunSeries>& series) {
    GroupOutcome outcome;
    outcome.evaluated = std::any_of(series.begin(), series.end(), [](const RunSeries& one) {
        return points_of(one, "evaluation.return") != nullptr;
    });
    std::vector<double> steps, last, best, to_solved, seconds, rates;
    for (const RunSeries& one : series) {
        const RunSummary summary = summarise_run(one.run);
        if (const Points* all = points_of(one, "episodes")) steps.push_back(all->back().step);
        if (const Points* points =
                points_of(one, outcome.evaluated ? "evaluation.return" : "episode.return")) {
            last.push_back(points->back().value);
            const auto less = [](const MetricPoint& a, const MetricPoint& b) {
                return a.value < b.value;
            };
            // The best checkpoint knows what was changed on the way.
            best.push_back(outcome.evaluated && summary.best
                               ? *summary.best
                               : std::max_element(points->begin(), points->end(), less)->value);
        }
        if (const MetricPoint* const solved = solved_at(one)) {
            ++outcome.solved;
            to_solved.push_back(solved->step);
            if (one.has_seconds) seconds.push_back(solved->seconds);
        } else if (summary.progress == RunProgress::solved) {
            // A sink with "every" has left that reading out.
            ++outcome.solved;
            to_solved.push_back(double(summary.steps));
            if (one.has_seconds) seconds.push_back(read_run_state(one.run).seconds);
        }
        if (const auto rate = rate_of(one)) rates.push_back(*rate);
    }
    outcome.steps = over_runs(steps);
    outcome.last_return = over_runs(last);
    outcome.best_return = over_runs(best);
    outcome.steps_to_solved = over_runs(to_solved);
    outcome.seconds_to_solved = over_runs(seconds);
    outcome.rate = over_runs(rates);
    return outcome;
}

}
