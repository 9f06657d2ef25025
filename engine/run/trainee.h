#pragma once
#include "engine/run/author_files.h"
#include "engine/run/checkpoint.h"
#include "engine/run/evaluation.h"
#include "engine/run/iteration.h"
#include "engine/run/run_ranks.h"

namespace nacelle {

// Loads the environment of a configuration: "env", "seed" and "hooks".
std::shared_ptr<Environment> load_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                              const Json& configuration, const std::string& where);
// The same for a Trainee: a learner's programs need not wait for the environment's code.
LazyEnvironment begin_environment(std::shared_ptr<RunsOn> on, Plugins& plugins,
                                  const Json& configuration, const std::string& where);

// How an array of a rank lies in that of all ranks: in `outer` pieces of so many bytes, each beside those of the others.
struct Parts {
    std::vector<int64_t> shape;    // of all ranks' array
    size_t outer = 1, bytes = 0;
    bool shared = true;    // all ranks have the same
    bool taken = false;    // statistics that were read before, and are zero
};

// An environment and its learner: everything that a checkpoint holds.
class Trainee final {
public:
    // Reads "learner" and "policies".
    Trainee(const LazyEnvironment& environment, Plugins& plugins, const Json& configuration,
            const std::string& where);

    Environment& environment() { return *environment_; }
    const std::shared_ptr<Environment>& shared_environment() const { return environment_; }
    // The files that the environment was made from, for a run's directory.
    const AuthorFiles& files() const { return files_; }
    LearnerInstance& learner() { return *learner_; }
    Evaluation evaluate(const EvaluationRequest& request) { return evaluator_->play(request); }
    // Writes the policy's actions for the current observations.
    void act(bool greedy) { learner_->act(greedy); }

    // The part of a checkpoint's record that is known here.
    CheckpointRecord checkpoint_record();
    // The file of the tensors: the environment's arrays and the learner's persistent ones, of all ranks, which come along.
    std::string tensors(RunRanks& ranks);
    // Loads a checkpoint, of which a rank takes its part. Throws where environment, learner or an array differ, and, unless `changed_files`, where
    // the author's files have changed.
    void load(const Checkpoint& checkpoint, bool changed_files);
    // Loads as much of a checkpoint as acting needs: all of it where it fits, else the policies' arrays alone, as for
    // another number of environments or agents. Throws, with both sizes, where a policy does not fit.
    void load_to_act(const Checkpoint& checkpoint, bool changed_files);

    // One iteration of the learner, to be repeated until the environment is another version.
    Iteration iteration();
    // The environment is another version.
    void reloaded();
    // Continues in another environment with a fresh learner, and returns its iteration. Where it throws, nothing has
    // changed.
    Iteration restart(std::shared_ptr<Environment> environment);

private:
    void make_learner(const LazyEnvironment& environment, Config top);
    std::vector<NamedArray*> kept_arrays();
    Parts parts_of(const NamedArray& array) const;
    void require_same(const Checkpoint& checkpoint, bool changed_files);
    void require_same_layout(const Checkpoint& checkpoint);

    std::shared_ptr<Environment> environment_;
    Plugins& plugins_;
    Json settings_;    // the learner's
    std::unique_ptr<LearnerInstance> learner_;
    std::unique_ptr<Evaluator> evaluator_;
    AuthorFiles files_;
};

}
