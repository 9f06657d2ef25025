#include "engine/run/run_summary.h"

#include "engine/base/error.h"
#include "engine/run/directory.h"
#include "engine/run/metrics_file.h"
#include "engine/run/run_state.h"
#include "engine/run/seeds_folder.h"

#include <algorithm>
#include <sys/stat.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

std::time_t time_of(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mtime : 0;
}

std::time_t last_change(const fs::path& run) {
    std::time_t last = time_of(run / "checkpoints");
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run, ignored))
        if (entry.is_regular_file(ignored)) last = std::max(last, time_of(entry.path()));
    return last;
}

// The checkpoints tell whether it is solved; those of a run that is training may vanish at any time.
void add_checkpoints(const Checkpoints& checkpoints, std::optional<double> wanted,
                     RunSummary& summary) {
    std::error_code ignored;
    if (fs::exists(checkpoints.best(), ignored)) {
        const CheckpointRecord record = Checkpoints::read_record(checkpoints.best());
        if (record.best) summary.best = record.best->mean_return;
    }
    const std::vector<CheckpointFile> all = checkpoints.list();
    if (all.empty()) return;
    const CheckpointRecord record = Checkpoints::read_record(all.front().path);
    summary.steps = std::max(summary.steps, record.steps);
    if (wanted && record.evaluation && record.evaluation->mean_return >= *wanted)
        summary.progress = RunProgress::solved;
    else if (record.steps >= summary.total_steps) summary.progress = RunProgress::ended;
}

void add_metrics(const fs::path& run, const Json& configuration, RunSummary& summary) {
    std::optional<MetricReading> last;
    try {
        last = last_reading(metrics_file(run, configuration));
    } catch (const Error&) {
        return;    // none were wanted, or none came yet
    }
    if (!last) return;
    summary.steps = last->step;
    const auto found = last->values.find("episode.return");
    if (found != last->values.end() && last->values["episodes"] > 0)
        summary.returned = found->second;
}

// The return at which the run counts as solved.
std::optional<double> add_settings(const fs::path& run, const Json& configuration,
                                   RunSummary& summary) {
    constexpr int64_t largest = int64_t(1) << 53;
    Config top(configuration, (run / "config.json").string());
    summary.environment = fs::path(top.object("env").text("source", "")).stem().string();
    summary.learner = top.object("learner").text("name", "ppo");
    summary.seed = uint64_t(top.integer("seed", 1, 0, largest));
    summary.total_steps = uint64_t(top.object("run").integer("total_steps", 0, 0, largest));
    Config solved = top.object("solved");
    if (solved.any("return").is_null()) return {};
    return solved.number("return", 0);
}

}

const char* progress_name(RunProgress progress) {
    switch (progress) {
        case RunProgress::running: return "running";
        case RunProgress::solved: return "solved";
        case RunProgress::ended: return "ended";
        case RunProgress::stopped: return "stopped";
        case RunProgress::failed: return "failed";
        case RunProgress::damaged: return "damaged";
        case RunProgress::waiting: return "not begun";
    }
    return "";
}

bool is_run(const fs::path& folder) {
    std::error_code ignored;
    return holds_run(folder) && (fs::is_directory(folder / "checkpoints", ignored) ||
                                 fs::is_directory(folder / "source", ignored));
}

std::optional<RunSummary> summarise_closed(const fs::path& folder) {
    std::error_code closed;
    fs::directory_iterator(folder, closed);
    if (!closed) return std::nullopt;
    RunSummary summary{.path = folder, .changed = time_of(folder)};
    summary.progress = RunProgress::damaged;
    summary.wrong = "cannot be looked into: " + closed.message();
    return summary;
}

RunSummary summarise_run(const fs::path& run) {
    RunSummary summary{.path = run, .changed = last_change(run)};
    const bool running = is_locked(run);
    try {
        const Json configuration = run_configuration(run);
        if (!configuration.is_object())
            throw Error((run / "config.json").string(), "is damaged: it is no object");
        const std::optional<double> wanted = add_settings(run, configuration, summary);
        add_metrics(run, configuration, summary);
        add_checkpoints(Checkpoints(run / "checkpoints"), wanted, summary);
        summary.wrong = read_run_state(run).failure;
        if (!summary.wrong.empty()) summary.progress = RunProgress::failed;
    } catch (const Error& error) {
        summary.progress = RunProgress::damaged;
        if (!running) summary.wrong = error.what();
    }
    if (running) summary.progress = RunProgress::running;
    return summary;
}

std::vector<RunSummary> summarise_seeds(const fs::path& folder) {
    std::vector<RunSummary> seeds;
    for (const fs::path& run : seed_runs(folder)) seeds.push_back(summarise_run(run));
    if (!holds_seeds(folder)) return seeds;
    const std::time_t changed = time_of(seeds_file_of(folder));
    try {
        const SeedsFolder all = read_seeds(folder);
        const size_t begun = seeds.size();
        for (uint64_t seed = all.first; seed < all.first + all.count; ++seed) {
            const fs::path run = all.run_of(seed);
            if (std::any_of(seeds.begin(), seeds.begin() + std::ptrdiff_t(begun),
                            [&](const RunSummary& one) { return one.path == run; }))
                continue;
            RunSummary waiting{.path = run, .changed = changed, .progress = RunProgress::waiting};
            add_settings(run, all.configuration_of(seed), waiting);
            seeds.push_back(std::move(waiting));
        }
    } catch (const Error& error) {
        seeds.push_back({.path = folder,
                         .changed = changed,
                         .progress = RunProgress::damaged,
                         .wrong = error.what()});
    }
    std::stable_sort(seeds.begin(), seeds.end(),
                     [](const RunSummary& a, const RunSummary& b) { return a.seed < b.seed; });
    return seeds;
}

}
