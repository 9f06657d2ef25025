#pragma once
#include "engine/run/directory.h"
#include "engine/run/run_recording.h"
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
    std::filesystem::path out = {};    // its directory; empty: no files, unless there is `next`
    std::filesystem::path next =
        {};                 // "runs/cartpole": the first of runs/cartpole-1, -2, ... that is free
    bool resume = false;    // go on from the newest checkpoint in `out`
    bool changed_source = false;    // though the author's files have changed
    bool watch = false;    // take what is saved while it trains, unless "reload.watch" says no
    RecordSettings record = {};    // what is kept of evaluations; no environments: nothing
    std::filesystem::path record_to = {};    // empty: out/recordings/step-N.recording
};

// What became of a save while a run trained.
struct RunReload : Reload {
    std::string environment;    // its name
    std::string text;           // as a user reads it
    uint64_t steps = 0;         // at which it came
    double seconds = 0;    // from the file's time to the end of the new version's first iteration
    bool restarted = false;    // with a learner that begins anew
};

// A training run: an environment, a learner and sinks, made from one configuration.
class TrainingRun final {
public:
    // Reads "learner", "run", "solved" and "reload"; "env", "seed" and "hooks" made the environment.
    TrainingRun(std::shared_ptr<Environment> environment, Plugins& plugins,
                const Json& configuration, const std::string& where, RunStart start = {});

    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    // Iterations of the learner until the metrics are read the next time; false where the run is over: all
    // steps taken, solved, or asked to stop.
    bool iterate();
    // Told of each save: once the new version's first iteration has ended, or at once where it was not
    // taken. Without this the environment's log is told.
    void on_reload(std::function<void(const RunReload&)> told) { told_ = std::move(told); }
    // Called between rollouts, with the steps that are taken: the device has nothing to do until it
    // returns, and the environment's arrays may be copied.
    void at_boundaries(std::function<void(uint64_t)> look) { look_ = std::move(look); }
    // Gives a parameter another value, from here on; to be called between rollouts. The run's
    // configuration will say so.
    void set_param(const std::string& name, const Json& value);
    // Asked between iterations.
    void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
    const Progress& progress() const { return progress_; }
    bool solved() const { return solved_; }
    // By a save with which the learner could not go on.
    bool stopped() const { return stopped_; }
    // Plays with the learner's policy, greedily; training goes on as if this had not been.
    Evaluation evaluate(uint64_t episodes);
    // Says in the recording that nothing more comes; gives the files that were written.
    std::vector<std::filesystem::path> finish_recording();
    // Reads what is left, saves a checkpoint unless the last one stands here, and puts all on the disk.
    void finish();

    Environment& environment() { return trainee_.environment(); }
    const std::filesystem::path& out() const { return start_.out; }
    // Of iterations and evaluations; and of what went to disk between them.
    double train_seconds() const { return train_seconds_; }
    double save_seconds() const { return save_seconds_; }
    // All settings, every default written out.
    const Json& configuration() const { return configuration_; }

private:
    void open_directory(Plugins& plugins);
    void go_on();
    bool over() const;
    uint64_t iterations_ahead() const;
    void advance();
    void read_metrics();
    void begin_recording();
    Evaluation play(uint64_t episodes, EvaluationPurpose purpose);
    void evaluate_now();
    void save(bool as_best);
    bool asked_to_stop() const { return stopped_ || (stop_ && stop_()); }
    // In run_reload.cpp.
    void watch();
    bool take_reload();
    void restart(std::shared_ptr<Environment> environment);
    void keep_version(bool other_layout);
    void keep_configuration();
    void end_reload();
    void tell(const RunReload& reload, LogLevel level);

    RunStart start_;
    Trainee trainee_;
    uint64_t steps_each_;    // of an iteration
    RunSettings settings_;
    Json given_, configuration_;    // as it was given, and with every default
    std::optional<RunDirectory> directory_;
    std::vector<std::unique_ptr<SinkInstance>> sinks_;
    std::optional<RunRecording> recording_;
    std::unique_ptr<Graph> graph_;
    std::unique_ptr<Reloader> reloader_;
    std::optional<RunReload> reload_;    // taken, its first iteration still to come
    std::vector<std::pair<std::string, double>> reload_metrics_;
    std::function<void(const RunReload&)> told_;
    std::function<void(uint64_t)> look_;
    std::function<bool()> stop_;
    bool given_params_changed_ = false;
    Progress progress_;
    std::optional<CheckpointRecord::Score> evaluation_, best_;
    std::optional<uint64_t> saved_;    // the steps of the last checkpoint
    uint64_t first_steps_ = 0;         // where this process began
    double train_seconds_ = 0, save_seconds_ = 0, flushed_ = 0,
           pace_ = 0;    // pace: seconds of an iteration
    bool solved_ = false,
         stopped_ = false;    // stopped: the learner cannot go on with what was saved
};

}
