#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/run/directory.h"
#include "tools/commands.h"
#include "tools/output.h"
#include "tools/run_differences.h"
#include "tools/run_outcome.h"
#include "tools/table.h"
#include "tools/units.h"

#include <cstdio>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

struct Compare {
    std::vector<fs::path> runs;
    bool json = false;
};

constexpr size_t most_diff_lines = 60, longest_value = 40;

struct Compared {
    RunGroup group;
    GroupOutcome outcome;
    Json configuration;    // of its first run
};

Compared look_at(const RunGroup& group) {
    std::vector<RunSeries> series;
    for (const fs::path& run : group.runs) {
        try {
            series.push_back(read_series(run));
        } catch (const Error&) {    // a run without metrics; its settings still count
        }
    }
    return {group, outcome_of(series), run_configuration(group.runs.front())};
}

// "147 k ± 12 k", or "-" where no run has it.
std::string cell(const OverRuns& over, std::string (*text)(double)) {
    if (over.count == 0) return "-";
    if (over.count == 1) return text(over.mean.mean);
    if (text == return_text) return with_interval(over.mean.mean, over.mean.interval);
    return text(over.mean.mean) + " ± " + text(over.mean.interval);
}

void print_outcomes(const std::vector<Compared>& all) {
    Table table({"run", "runs", "solved", "steps", "last return", "best return", "steps to solved",
                 "seconds to solved", "steps/s"});
    for (size_t column = 1; column < 9; ++column) table.right(column);
    bool trained_only = false;
    for (const Compared& one : all) {
        const GroupOutcome& its = one.outcome;
        const std::string mark = its.evaluated || its.last_return.count == 0 ? "" : " *";
        trained_only |= !mark.empty();
        table.add({one.group.name, std::to_string(one.group.runs.size()),
                   std::to_string(its.solved), cell(its.steps, count_text),
                   cell(its.last_return, return_text) + mark,
                   cell(its.best_return, return_text) + mark, cell(its.steps_to_solved, count_text),
                   cell(its.seconds_to_solved, duration_text), cell(its.rate, count_text)});
    }
    if (trained_only) table.note("* of training, since the run had no evaluation");
    table.print();
}

std::string value_text(const std::optional<Json>& value) {
    if (!value) return "-";
    const std::string text = value->is_string() ? value->get<std::string>() : json_text(*value);
    return text.size() > longest_value ? valid_utf8(text.substr(0, longest_value)) + "..." : text;
}

void print_settings(const std::vector<Compared>& all,
                    const std::vector<SettingDifference>& differences) {
    if (differences.empty()) {
        std::printf("\nall settings are the same\n");
        return;
    }
    std::printf("\n");
    std::vector<std::string> titles = {"setting"};
    for (const Compared& one : all) titles.push_back(one.group.name);
    Table table(titles);
    for (const SettingDifference& one : differences) {
        std::vector<std::string> cells = {one.path};
        for (const auto& value : one.values) cells.push_back(value_text(value));
        table.add(std::move(cells));
    }
    table.print();
}

void print_source(const Compared& before, const Compared& after,
                  const std::vector<SourceDifference>& differences) {
    const std::string a = printable(before.group.name), b = printable(after.group.name);
    if (differences.empty()) {
        std::printf("\nthe source of %s is that of %s\n", b.c_str(), a.c_str());
        return;
    }
    for (const SourceDifference& one : differences) {
        const std::string file = printable(one.file);
        if (!one.reason.empty()) {
            std::printf("\n%s %s\n", file.c_str(), printable(one.reason).c_str());
            continue;
        }
        std::printf("\n--- %s/%s\n+++ %s/%s\n", a.c_str(), file.c_str(), b.c_str(), file.c_str());
        for (size_t i = 0; i < std::min(one.lines.size(), most_diff_lines); ++i)
            std::printf("%s\n", printable(one.lines[i]).c_str());
        if (one.lines.size() > most_diff_lines)
            std::printf("(%zu more lines; --json has them)\n", one.lines.size() - most_diff_lines);
    }
}

Json cell_json(const OverRuns& over) {
    if (over.count == 0) return nullptr;
    const Json interval = over.count > 1 ? Json(over.mean.interval) : Json();
    return {{"runs", over.count}, {"mean", over.mean.mean}, {"interval", interval}};
}

void print_as_json(const std::vector<Compared>& all,
                   const std::vector<SettingDifference>& settings) {
    for (const Compared& one : all) {
        const GroupOutcome& its = one.outcome;
        print_json({{"kind", "run"},
                    {"run", one.group.path.string()},
                    {"name", one.group.name},
                    {"runs", one.group.runs.size()},
                    {"solved", its.solved},
                    {"return_of", its.evaluated ? "evaluation" : "training"},
                    {"steps", cell_json(its.steps)},
                    {"last_return", cell_json(its.last_return)},
                    {"best_return", cell_json(its.best_return)},
                    {"steps_to_solved", cell_json(its.steps_to_solved)},
                    {"seconds_to_solved", cell_json(its.seconds_to_solved)},
                    {"steps_per_second", cell_json(its.rate)}});
    }
    for (const SettingDifference& one : settings) {
        Json line = {{"kind", "setting"}, {"setting", one.path}};
        for (size_t i = 0; i < all.size(); ++i)
            line["values"][all[i].group.name] = one.values[i].value_or(Json());
        print_json(line);
    }
    for (size_t i = 1; i < all.size(); ++i)
        for (const SourceDifference& one : source_differences(all.front().group, all[i].group)) {
            Json line = {{"kind", "source"},
                         {"file", one.file},
                         {"before", all.front().group.name},
                         {"after", all[i].group.name}};
            if (one.reason.empty()) line["lines"] = one.lines;
            else line["reason"] = one.reason;
            print_json(line);
        }
}

void run(const Compare& compare) {
    if (compare.runs.size() < 2)
        throw UsageError("compare: name two runs or more; 'nacelle inspect' shows one");
    std::vector<Compared> all;
    for (const RunGroup& group : run_groups(compare.runs)) all.push_back(look_at(group));
    std::vector<RunGroup> groups;
    std::vector<Json> configurations;
    for (const Compared& one : all) {
        groups.push_back(one.group);
        configurations.push_back(one.configuration);
    }
    const std::vector<SettingDifference> settings = setting_differences(groups, configurations);
    if (compare.json) return print_as_json(all, settings);
    print_outcomes(all);
    print_settings(all, settings);
    for (size_t i = 1; i < all.size(); ++i)
        print_source(all.front(), all[i], source_differences(groups.front(), groups[i]));
}

}

void add_compare(CommandLine& line) {
    auto compare = std::make_shared<Compare>();
    Command command =
        line.add("compare", "Compare runs: what came of them, their settings, their source");
    command
        .option("runs", compare->runs,
                "Directories of two or more runs, or of the runs of several seeds")
        .required();
    command.flag("--json", compare->json,
                 "One JSON object per line, nothing else on standard output");
    command.run([compare] { run(*compare); });
}

}
