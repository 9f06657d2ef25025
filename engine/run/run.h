#pragma once
#include "engine/run/directory.h"
#include "engine/run/settings.h"
#include "engine/run/trainee.h"

#include <functional>

namespace nacelle {

// Where a run stands, after each reading of its metrics.
struct Progress {
    uint64_t iteration = 0, steps = 0, total_steps = 0;
    double steps_per_second = 0;
    double seconds_left = 0;    // at the rate since the start
    MetricValues metrics;
};

// How a run begins.
struct RunStart {
    std::filesystem::path out = {};    // its directory; empty: no files
    bool resume = false;               // go on from the newest checkpoint in `out`
    bool changed_source = false;       // though the author's files have changed
};

// A training run: an environment, a learner and sinks, made from one configuration.
class TrainingRun final {
public:
    // Reads "learner", "run" and "solved"; "env", "seed" and "hooks" made the environment.
    TrainingRun(std::shared_ptr<Environment> environment, Plugins& plugins,
                const Json& configuration, const std::string& where, RunStart start = {});

    // Iterations of the learner until the metrics are read the next time; false where the run is over: all
    // steps taken, solved, or asked to stop.
    bool iterate();
    // Asked between iterations.
    void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
    const Progress& progress() const { return progress_; }
    bool solved() const { return solved_; }
    // Plays with the learner's policy, greedily; training goes on as if this had not been.
    Evaluation evaluate(uint64_t episodes);
    // Reads what is left, saves a checkpoint unless the last one stands here, and puts all on the disk.
    void finish();

    Environment& environment() { return trainee_.environment(); }
    const std::filesystem::path& out() const { return start_.out; }
    double train_seconds() const { return train_seconds_; }
    // All settings, every default written out.
    const Json& configuration() const { return configuration_; }

private:
    void open_directory(Plugins& plugins);
    void go_on();
    bool over() const;
    uint64_t iterations_ahead() const;
    void advance();
    void read_metrics();
    void evaluate_now();
    void save(bool as_best);

    RunStart start_;
    Trainee trainee_;
    uint64_t steps_each_;    // of an iteration
    RunSettings settings_;
    Json configuration_;
    std::optional<RunDirectory> directory_;
    std::vector<std::unique_ptr<SinkInstance>> sinks_;
    std::unique_ptr<Graph> graph_;
    std::function<bool()> stop_;
    Progress progress_;
    std::optional<CheckpointRecord::Score> evaluation_, best_;
    std::optional<uint64_t> saved_;                        // the steps of the last checkpoint
    uint64_t first_steps_ = 0;                             // where this process began
    double train_seconds_ = 0, flushed_ = 0, pace_ = 0;    // pace: seconds of an iteration
    bool solved_ = false;
};

}
