#pragma once
#include "engine/run/author_files.h"
#include "engine/run/checkpoint.h"
#include "engine/run/evaluation.h"

namespace nacelle {

// The configuration's environment: its "env", "seed" and "hooks".
std::shared_ptr<Environment> load_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                              const Json& configuration, const std::string& where);
// The same for a Trainee, which finishes it: a learner's programs need not wait for the environment's code.
std::shared_ptr<Environment> begin_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                               const Json& configuration, const std::string& where);

// An environment and the learner at work on it: all that a checkpoint holds.
class Trainee final {
public:
    // Reads "learner" and "policies".
    Trainee(std::shared_ptr<Environment> environment, Plugins& plugins, const Json& configuration,
            const std::string& where);

    Environment& environment() { return *environment_; }
    const std::shared_ptr<Environment>& shared_environment() const { return environment_; }
    // What the environment was made from, as a run's directory keeps it.
    const std::vector<SourceFile>& files() const { return files_; }
    LearnerInstance& learner() { return *learner_; }
    Evaluation evaluate(uint64_t episodes, EvaluationPurpose purpose);
    Evaluation evaluate(const EvaluationRequest& request) { return evaluator_->play(request); }
    // Writes the policy's actions for the observations as they are now.
    void act(bool greedy) { learner_->act(greedy); }

    // What belongs to the checkpoint's record and is known here.
    CheckpointRecord checkpoint_record();
    // The tensors' file: the environment's arrays and those that the learner wants kept.
    std::string tensors();
    // Takes over what the checkpoint holds. Throws where it is another environment's or learner's, or where
    // an array differs; and where the author's files have changed, unless `changed_files` are welcome.
    void load(const Checkpoint& checkpoint, bool changed_files);

    // One iteration of the learner, to be replayed.
    std::unique_ptr<Graph> record();
    // The environment is another version.
    void reloaded();
    // Goes on in another environment with a learner that knows nothing yet, and gives its iteration. Where
    // it throws, all is as before.
    std::unique_ptr<Graph> restart(std::shared_ptr<Environment> environment);

private:
    void make_learner(Config top);
    std::vector<NamedArray*> kept_arrays();
    void require_same(const Checkpoint& checkpoint, bool changed_files);

    std::shared_ptr<Environment> environment_;
    Plugins& plugins_;
    Json settings_;    // the learner's
    std::unique_ptr<LearnerInstance> learner_;
    std::unique_ptr<Evaluator> evaluator_;
    std::vector<SourceFile> files_;
    Json hashes_;    // of each of the files
};

}
