#pragma once
#include "engine/plugins/learner_instance.h"

namespace nacelle {

// What an evaluation found: whole first episodes, one for each environment that took part.
struct Evaluation {
    // What an agent of one policy got in the mean.
    struct Policy {
        std::string name;
        double mean_return = 0, return_interval = 0;
    };
    uint64_t episodes = 0;
    double mean_return = 0, return_interval = 0;    // half the width of the 95 % interval
    double mean_length = 0, length_interval = 0;
    std::vector<Policy> policies;    // mean_return is that of the first
};

// Where a run stands, after each iteration.
struct Progress {
    uint64_t iteration = 0, steps = 0, total_steps = 0;
    double steps_per_second = 0;
    MetricValues metrics;
};

// The configuration's environment: its "env", "seed" and "hooks".
std::shared_ptr<Environment> load_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                              const Json& configuration, const std::string& where);

// A training run: an environment, a learner and sinks, made from one configuration.
class TrainingRun final {
public:
    // Reads "learner", "run" and "solved"; "env", "seed" and "hooks" made the environment. `out` is the run's
    // directory; it gets the resolved configuration, the source and the sinks' files; empty: no files.
    TrainingRun(std::shared_ptr<Environment> environment, Plugins& plugins, Json configuration,
                const std::string& where, std::filesystem::path out);

    // One iteration of the learner; false where the run is over: all steps taken, or solved.
    bool iterate();
    const Progress& progress() const { return progress_; }
    bool solved() const { return solved_; }
    // Plays with the learner's policy, greedily, until `episodes` environments have ended their first episode.
    Evaluation evaluate(uint64_t episodes);
    // What is written is on the disk after this.
    void finish();

    Environment& environment() { return *environment_; }
    const std::filesystem::path& out() const { return out_; }
    double train_seconds() const { return train_seconds_; }

private:
    void write_directory(const Json& configuration);
    void write_metrics();

    std::filesystem::path out_;
    std::shared_ptr<Environment> environment_;
    std::unique_ptr<LearnerInstance> learner_;
    std::vector<std::unique_ptr<SinkInstance>> sinks_;
    std::unique_ptr<Graph> graph_;
    Progress progress_;
    double solved_return_ = 0, train_seconds_ = 0;
    uint64_t solved_episodes_ = 0, evaluate_every_ = 1;
    bool has_criterion_ = false, solved_ = false;
};

}
