#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/run/directory.h"
#include "engine/run/run_summary.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/table.h"
#include "tools/units.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct Runs {
    fs::path folder = "runs";
    bool json = false;
};

// One line: a run, or a folder of runs with several seeds.
struct Listed {
    fs::path path;
    std::vector<RunSummary> runs;
    bool seeds = false;

    std::time_t changed() const {
        std::time_t last = 0;
        for (const RunSummary& run : runs) last = std::max(last, run.changed);
        return last;
    }
};

std::vector<Listed> listed_in(const fs::path& folder) {
    std::vector<Listed> all;
    if (holds_seeds(folder)) {
        for (const RunSummary& seed : summarise_seeds(folder))
            all.push_back({.path = seed.path, .runs = {seed}});
        return all;
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::error_code ignored;
        if (!entry.is_directory(ignored)) continue;
        Listed one{.path = entry.path(), .runs = {}};
        if (const auto closed = summarise_closed(one.path)) one.runs.push_back(*closed);
        else if (is_run(one.path)) one.runs.push_back(summarise_run(one.path));
        else {
            one.runs = summarise_seeds(one.path);
            one.seeds = true;
        }
        if (!one.runs.empty()) all.push_back(std::move(one));
    }
    std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
        return a.changed() != b.changed() ? a.changed() > b.changed() : a.path < b.path;
    });
    return all;
}

std::string time_text(std::time_t time, const char* form, bool utc) {
    std::tm parts{};
    utc ? ::gmtime_r(&time, &parts) : ::localtime_r(&time, &parts);
    char text[40];
    return {text, std::strftime(text, sizeof text, form, &parts)};
}

// "9 of 10 done: 9 solved, 1 failed", in the order of the enumeration.
std::string progresses_text(const std::vector<RunSummary>& runs) {
    std::map<RunProgress, int> counts;
    for (const RunSummary& run : runs) ++counts[run.progress];
    std::string text;
    for (const auto& [progress, count] : counts)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + progress_name(progress);
    const int done = counts[RunProgress::solved] + counts[RunProgress::ended];
    return std::to_string(done) + " of " + std::to_string(runs.size()) + " done: " + text;
}

// The mean over the runs that have one.
std::optional<double> mean_of(const std::vector<RunSummary>& runs,
                              std::optional<double> RunSummary::*value) {
    double sum = 0;
    int count = 0;
    for (const RunSummary& run : runs)
        if (run.*value) {
            sum += *(run.*value);
            ++count;
        }
    if (count == 0) return {};
    return sum / count;
}

std::string best_text(const Listed& one) {
    const std::string more = one.seeds ? " mean" : "";
    if (const auto best = mean_of(one.runs, &RunSummary::best)) return return_text(*best) + more;
    if (const auto mean = mean_of(one.runs, &RunSummary::returned))
        return return_text(*mean) + more + " in training";
    return "-";
}

std::string far_text(const Listed& one) {
    uint64_t steps = 0, total = 0;
    for (const RunSummary& run : one.runs) {
        steps += run.steps;
        total += run.total_steps;
    }
    if (total == 0) return count_text(double(steps));
    const double share = 100 * double(steps) / double(total);
    char text[64];
    std::snprintf(text, sizeof text, "%s (%.0f %%)", count_text(double(steps)).c_str(),
                  std::min(100.0, share));
    return text;
}

void print_table(const std::vector<Listed>& all) {
    Table table({"run", "environment", "learner", "changed", "steps", "best return", "state"});
    table.right(4);
    table.right(5);
    for (const Listed& one : all) {
        const RunSummary& first = one.runs.front();
        table.add({one.path.filename().string(), first.environment, first.learner,
                   time_text(one.changed(), "%Y-%m-%d %H:%M", false), far_text(one), best_text(one),
                   one.seeds ? progresses_text(one.runs) : progress_name(first.progress)});
        for (const RunSummary& run : one.runs)
            if (!run.wrong.empty()) table.note("  " + run.wrong);
    }
    table.print();
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json run_json(const RunSummary& run) {
    Json json = {{"kind", "run"},
                 {"run", run.path.string()},
                 {"environment", run.environment},
                 {"learner", run.learner},
                 {"seed", run.seed},
                 {"changed", time_text(run.changed, "%Y-%m-%dT%H:%M:%SZ", true)},
                 {"steps", run.steps},
                 {"total_steps", run.total_steps},
                 {"best_return", or_null(run.best)},
                 {"return", or_null(run.returned)},
                 {"state", progress_name(run.progress)}};
    if (!run.wrong.empty()) json["wrong"] = run.wrong;
    return json;
}

void print_lines(const std::vector<Listed>& all) {
    for (const Listed& one : all)
        for (const RunSummary& run : one.runs) {
            Json json = run_json(run);
            if (one.seeds) json["seeds"] = one.path.string();
            print_json(json);
        }
}

void run(const Runs& runs) {
    std::error_code ignored;
    if (!fs::is_directory(runs.folder, ignored))
        throw Error(runs.folder.string(),
                    fs::exists(runs.folder, ignored) ? "is no folder" : "does not exist",
                    "name a folder of runs; 'nacelle train' makes runs/");
    if (is_run(runs.folder))
        throw Error(runs.folder.string(), "is one run, not a folder of runs",
                    "'nacelle inspect " + shell_word(runs.folder.string()) +
                        "' shows what it holds");
    const std::vector<Listed> all = listed_in(runs.folder);
    if (runs.json) return print_lines(all);
    if (all.empty()) std::printf("%s holds no runs\n", printable(runs.folder.string()).c_str());
    else print_table(all);
}

}

void add_runs(CommandLine& line) {
    auto runs = std::make_shared<Runs>();
    Command command = line.add("runs", "List the runs in a folder, newest first");
    command.option("folder", runs->folder, "A folder of runs").shows_default();
    command.flag("--json", runs->json, "One JSON object per line, nothing else on standard output");
    command.run([runs] { run(*runs); });
}

}
