#include "tools/seeds_report.h"

#include "engine/base/mean_interval.h"
#include "engine/base/text.h"
#include "tools/output.h"
#include "tools/progress_line.h"
#include "tools/table.h"
#include "tools/units.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace nacelle::tools {
namespace {

using Question = std::optional<double> (*)(const SeedResult&);

std::optional<double> return_of(const SeedResult& seed) {
    if (!seed.evaluation) return {};
    return seed.evaluation->mean_return;
}
std::optional<double> trained_return_of(const SeedResult& seed) {
    return seed.evaluation && seed.greedy ? seed.trained_return : std::nullopt;
}
std::optional<double> steps_to_solved(const SeedResult& seed) {
    if (!seed.solved) return {};
    return double(seed.steps);
}
std::optional<double> seconds_to_solved(const SeedResult& seed) {
    if (!seed.solved) return {};
    return seed.seconds;
}

// A number over the seeds that have one.
struct OverSeeds {
    MeanInterval mean;
    size_t count = 0;
    double worst = 0, best = 0;
    uint64_t worst_seed = 0, best_seed = 0;
};

OverSeeds over_seeds(const SeedsReport& report, Question question, bool high_is_good) {
    OverSeeds over;
    std::vector<double> values;
    for (const SeedResult& seed : report.seeds) {
        const std::optional<double> value = question(seed);
        if (!value) continue;
        const auto better = [&](double a, double b) { return high_is_good ? a > b : a < b; };
        if (values.empty() || better(*value, over.best)) {
            over.best = *value;
            over.best_seed = seed.seed;
        }
        if (values.empty() || better(over.worst, *value)) {
            over.worst = *value;
            over.worst_seed = seed.seed;
        }
        values.push_back(*value);
    }
    over.mean = mean_interval(values);
    over.count = values.size();
    return over;
}

size_t count_of(const SeedsReport& report, const std::function<bool(const SeedResult&)>& is) {
    return size_t(std::count_if(report.seeds.begin(), report.seeds.end(), is));
}
bool has_failed(const SeedResult& seed) { return !seed.failure.empty(); }
bool is_unfinished(const SeedResult& seed) {
    return !has_failed(seed) && (!seed.begun || seed.interrupted);
}

bool is_solved(const SeedResult& seed) { return seed.solved; }

// "9 of 10 seeds ended, 8 solved, 1 failed"
std::string outcome_text(const SeedsReport& report) {
    const size_t all = report.seeds.size(), failed = count_of(report, has_failed),
                 unfinished = count_of(report, is_unfinished), solved = count_of(report, is_solved);
    std::string text =
        std::to_string(all - failed - unfinished) + " of " + std::to_string(all) + " seeds ended";
    if (solved) text += ", " + std::to_string(solved) + " solved";
    if (failed) text += ", " + std::to_string(failed) + " failed";
    if (unfinished) text += ", " + std::to_string(unfinished) + " interrupted";
    return text;
}

void add_row(Table& table, const std::string& name, const OverSeeds& over,
             std::string (*text)(double)) {
    if (over.count == 0) return;
    const auto of_seed = [&](double value, uint64_t seed) {
        return text(value) + " (seed " + std::to_string(seed) + ")";
    };
    const std::string interval = text == return_text
                                     ? interval_text(over.mean.mean, over.mean.interval)
                                     : text(over.mean.interval);
    table.add({name, std::to_string(over.count), text(over.mean.mean),
               over.count > 1 ? "± " + interval : "", of_seed(over.worst, over.worst_seed),
               of_seed(over.best, over.best_seed)});
}

Json over_json(const OverSeeds& over) {
    if (over.count == 0) return nullptr;
    return {{"seeds", over.count},
            {"mean", over.mean.mean},
            {"interval", over.mean.interval},
            {"worst", over.worst},
            {"worst_seed", over.worst_seed},
            {"best", over.best},
            {"best_seed", over.best_seed}};
}

Json seed_json(const SeedResult& seed) {
    Json line = {{"kind", "seed"},
                 {"seed", seed.seed},
                 {"begun", seed.begun},
                 {"solved", seed.solved},
                 {"interrupted", seed.interrupted},
                 {"stopped", seed.stopped},
                 {"steps", seed.steps},
                 {"seconds", seed.seconds},
                 {"out", seed.out.string()}};
    if (has_failed(seed)) line["failure"] = seed.failure;
    if (seed.evaluation) add_evaluation(*seed.evaluation, line);
    if (seed.trained_return) line["trained_return"] = *seed.trained_return;
    for (const auto& path : seed.recordings) line["recordings"].push_back(path.string());
    return line;
}

// What a user would not expect who knows the evaluations alone.
void warn_of_greedy_actions(const SeedsReport& report) {
    const MeanInterval played = over_seeds(report, return_of, true).mean,
                       trained = over_seeds(report, trained_return_of, true).mean;
    if (!(trained.mean - trained.interval > played.mean + played.interval)) return;
    std::printf("warning: in training, where actions are drawn, the returns were %s at last; "
                "run.evaluate is \"greedy\", and may be \"sampled\" or \"both\"\n",
                return_text(trained.mean).c_str());
}

}

bool any_failed(const SeedsReport& report) { return count_of(report, has_failed) > 0; }

void print_report(const SeedsReport& report) {
    const std::string out = printable(report.out.string());
    std::printf("%s; results in %s\n", outcome_text(report).c_str(), out.c_str());
    Table table({"", "seeds", "mean", "95 %", "worst", "best"});
    table.right(1);
    add_row(table, "return", over_seeds(report, return_of, true), return_text);
    add_row(table, "steps to solved", over_seeds(report, steps_to_solved, false), count_text);
    add_row(table, "seconds to solved", over_seeds(report, seconds_to_solved, false),
            duration_text);
    for (const SeedResult& seed : report.seeds)
        if (has_failed(seed))
            table.note("seed " + std::to_string(seed.seed) + " failed: " + seed.failure);
    table.print();
    warn_of_greedy_actions(report);
    if (count_of(report, is_unfinished))
        std::printf("'nacelle resume %s' goes on\n", shell_word(out).c_str());
    for (const SeedResult& seed : report.seeds)
        for (const auto& path : seed.recordings)
            std::printf("recorded in %s\n", printable(path.string()).c_str());
    std::printf("%.2f s in all, %s\n", report.seconds, report.how.c_str());
}

void print_report_lines(const SeedsReport& report) {
    for (const SeedResult& seed : report.seeds) print_json(seed_json(seed));
    print_json({{"kind", "seeds"},
                {"seeds", report.seeds.size()},
                {"solved", count_of(report, is_solved)},
                {"failed", count_of(report, has_failed)},
                {"interrupted", count_of(report, is_unfinished)},
                {"return", over_json(over_seeds(report, return_of, true))},
                {"steps_to_solved", over_json(over_seeds(report, steps_to_solved, false))},
                {"seconds_to_solved", over_json(over_seeds(report, seconds_to_solved, false))},
                {"how", report.how},
                {"seconds", report.seconds},
                {"out", report.out.string()}});
}

}
