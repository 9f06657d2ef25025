#pragma once
#include "engine/run/directory.h"
#include "engine/run/run_recording.h"
#include "engine/run/run_state.h"
#include "engine/run/settings.h"
#include "engine/run/trainee.h"

#include <atomic>
#include <chrono>
#include <functional>

namespace nacelle {

// The progress of a run, after each reading of its metrics.
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
        {};                         // "runs/cartpole": the first free one of runs/cartpole-1, -2
    bool resume = false;            // continue from the newest checkpoint in `out`
    bool changed_source = false;    // also if the author's files have changed
    // Who has begun several runs syncs their files in the end (sync_files), and prunes their checkpoints then; each does so
    // by itself once a second at most, and saves its best policy as seldom.
    bool synced_together = false;
    bool watch = false;    // reload saves, unless "reload.watch" is false
    // Steps after which it pauses, though it is not over; 0: it goes to its end.
    uint64_t until = 0;
    RecordSettings record = {};              // of evaluations; no environments: nothing
    std::filesystem::path record_to = {};    // empty: out/recordings/step-N.recording
};

// The outcome of a save during training.
struct RunReload : Reload {
    std::string environment;    // its name
    std::string text;           // for the user
    uint64_t steps = 0;         // when it was taken
    double seconds = 0;    // from the file's time to the end of the new version's first iteration
    bool restarted = false;    // with a learner that begins anew
};

// A training run: an environment, a learner and sinks, made from one configuration.
class TrainingRun final {
public:
    // Reads "learner", "run", "solved" and "reload"; "env", "seed" and "hooks" made the environment.
    TrainingRun(const LazyEnvironment& environment, Plugins& plugins, const Json& configuration,
                const std::string& where, RunStart start = {});

    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    // Runs iterations until the next reading of the metrics; false where the run is over: all steps taken, solved, or
    // asked to stop. What it throws is kept in the run's state.
    bool iterate();
    // Called for each save: after the first iteration of the new version, or at once where it was not taken. Without
    // it the environment's log gets the text.
    void on_reload(std::function<void(const RunReload&)> told) { told_ = std::move(told); }
    // Called between rollouts with the number of steps taken. The device is idle until it returns, and the
    // environment's arrays may be copied.
    void at_boundaries(std::function<void(uint64_t)> look) { look_ = std::move(look); }
    // Sets a parameter; to be called between rollouts. The stored configuration is updated.
    void set_param(const std::string& name, const Json& value);
    // Asked between iterations.
    void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
    const Progress& progress() const { return progress_; }
    // Whether all steps are taken, or it is solved.
    bool over() const;
    bool solved() const { return solved_; }
    // Whether it goes no further than it was to, and is not over.
    bool paused() const { return start_.until && progress_.steps >= start_.until && !over(); }
    // Whether a save with which the learner could not continue has ended the run.
    bool stopped() const { return stopped_; }
    // Whether another one of several ranks was told to stop, or this one.
    bool told_to_stop() const { return told_to_stop_; }
    // Takes over a checkpoint: everything of it but the directory's files.
    void go_on_from(const Checkpoint& checkpoint);
    // Saves a checkpoint, unless the last one is of this step; throws where the run has no directory.
    void save_now();
    // Finishes, and iterate() does nothing more.
    void stop();
    // Evaluates the learner's policy; training is not affected. `stop` is asked between steps.
    Evaluation evaluate(uint64_t episodes, bool greedy = true, std::function<bool()> stop = {});
    // How the policy acts in evaluations.
    EvaluatedWay evaluated_way() const { return settings_.evaluate; }
    // Marks the recording as complete; returns the written files.
    std::vector<std::filesystem::path> finish_recording();
    // Reads the last metrics, saves a checkpoint unless the last one is of this step, and syncs all files.
    void finish();

    Environment& environment() { return trainee_.environment(); }
    // The environment and its learner.
    Trainee& trainee() { return trainee_; }
    const std::filesystem::path& out() const { return start_.out; }
    // How many checkpoints it keeps.
    uint64_t keeps() const { return settings_.keep; }
    // The steps of the newest checkpoint; nothing where there is none yet.
    std::optional<uint64_t> saved() const { return saved_; }
    // The time of training, evaluating and saving up to the last reading of the metrics, over all processes.
    double seconds() const { return seconds_; }
    // The time of iterations and evaluations; and that of writing to disk between them.
    double train_seconds() const { return train_seconds_; }
    double save_seconds() const { return save_seconds_; }
    // All settings, every default written out.
    const Json& configuration() const { return configuration_; }

private:
    void open_directory(Plugins& plugins);
    void begin_directory(Plugins& plugins);
    void keep_state(const RunState& state);
    bool run_to_next_reading();
    uint64_t iterations_ahead() const;
    void advance();
    void read_metrics();
    void begin_recording();
    Evaluation play(EvaluationRequest request, EvaluationPurpose purpose);
    void evaluate_now();
    void save(bool as_best);
    void require_finite(const std::string& tensors);    // in run_finite.cpp
    void save_best();
    bool asked_to_stop() const {
        return stopped_ || (ranks_.several() ? told_to_stop_ : stop_ && stop_());
    }
    uint64_t burst(uint64_t left);
    // What is known of the run now: its configuration, and what returns depend on.
    void resolve();
    // In run_resume.cpp.
    void go_on();
    void forget_scores_of_another_problem();
    // In run_reload.cpp.
    void watch();
    void notice_saves();
    bool take_reload();
    void refuse_save();
    void restart(std::shared_ptr<Environment> environment);
    void keep_version(bool other_layout);
    void keep_configuration();
    void end_reload();
    void tell(const RunReload& reload, LogLevel level);

    RunStart start_;
    Trainee trainee_;
    RunRanks ranks_;
    uint64_t steps_each_;    // of an iteration, of all ranks
    RunSettings settings_;
    Json given_, configuration_;    // as it was given, and with every default
    std::optional<RunDirectory> directory_;
    std::vector<std::unique_ptr<SinkInstance>> sinks_;
    std::optional<RunRecording> recording_;
    std::optional<Iteration> iteration_;    // always, once it is constructed
    std::unique_ptr<Reloader> reloader_;
    std::atomic<bool> saved_source_ = false;
    std::unique_ptr<SourceWatch> source_watch_;    // of several ranks, which take no save
    std::optional<RunReload> reload_;              // taken; its first iteration has not ended
    std::vector<std::pair<std::string, double>> reload_metrics_;
    std::function<void(const RunReload&)> told_;
    std::function<void(uint64_t)> look_;
    std::function<bool()> stop_;
    bool given_params_changed_ = false;
    Progress progress_;
    std::optional<CheckpointRecord::Score> evaluation_, best_;
    Json problem_, scored_problem_;     // problem_of() now, and of both
    bool best_is_forgotten_ = false;    // though its file may still be there
    std::optional<std::pair<CheckpointRecord, std::string>> unsaved_best_;    // its tensors
    std::chrono::steady_clock::time_point best_saved_{};
    double wait_for_best_ = 0;         // seconds
    std::optional<uint64_t> saved_;    // the steps of the last checkpoint
    uint64_t first_steps_ = 0;         // where this process began
    double train_seconds_ = 0, save_seconds_ = 0, flushed_ = 0;
    std::chrono::steady_clock::time_point synced_ =
        std::chrono::steady_clock::now();        // the save that was synced last
    double seconds_before_ = 0, seconds_ = 0;    // of earlier processes; of all at the last reading
    double pace_ = 0;                            // seconds of an iteration
    bool solved_ = false;
    bool saves_ = false;           // rank 0 has a directory
    bool told_to_stop_ = false;    // one of several ranks was
    bool stopped_ = false;         // the learner cannot continue with the saved version
};

}
