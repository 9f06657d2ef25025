// How a run goes on from a checkpoint.
#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/run/problem.h"
#include "engine/run/run.h"

namespace nacelle {

void TrainingRun::go_on() {
    const Log& log = trainee_.environment().on().log;
    std::optional<Checkpoint> newest;
    RunState state;
    ranks_.by_first([&] {
        if (!directory_) return;
        const Checkpoints checkpoints = directory_->checkpoints();
        newest = checkpoints.newest([&](const std::string& why) {
            log.write(LogLevel::warning, why + "; an earlier checkpoint is taken");
        });
        // It was forgotten, and a process ended before it saved a checkpoint that says so.
        if (newest && !std::filesystem::exists(checkpoints.best())) newest->record.best.reset();
        state = read_run_state(start_.out);
    });
    newest = ranks_.share(std::move(newest));
    if (!directory_) {
        if (newest) go_on_from(*newest);
        return;
    }
    seconds_ = seconds_before_ = newest ? state.seconds : 0;
    if (!state.failure.empty()) keep_state({.seconds = seconds_});    // it is tried again
    if (!newest) {
        log.write(LogLevel::warning,
                  start_.out.string() +
                      ": has no checkpoint yet; the run starts from its beginning");
        return;
    }
    go_on_from(*newest);
    directory_->checkpoints().tidy(settings_.keep, progress_.steps);
}

void TrainingRun::go_on_from(const Checkpoint& checkpoint) {
    trainee_.load(checkpoint, start_.changed_source);
    const CheckpointRecord& record = checkpoint.record;
    progress_.iteration = record.iteration;
    progress_.steps = first_steps_ = record.steps;
    evaluation_ = record.evaluation;
    best_ = record.best;
    scored_problem_ = record.problem;
    saved_ = record.steps;
    forget_scores_of_another_problem();
    solved_ = settings_.solved_return && evaluation_ &&
              evaluation_->mean_return >= *settings_.solved_return;
}

// What was changed since then may have changed what a return is measured in.
void TrainingRun::forget_scores_of_another_problem() {
    if (scored_problem_.is_null()) return;    // an earlier version did not tell it
    const std::string changed = difference_of_problems(scored_problem_, problem_);
    if (changed.empty()) return;
    if (best_ && ranks_.first())
        trainee_.environment().on().log.write(
            LogLevel::warning,
            (start_.out.empty() ? trainee_.environment().name() : start_.out.string()) + ": " +
                changed + ": the best checkpoint, of step " + std::to_string(best_->steps) +
                ", returned " + rounded(best_->mean_return, 4) +
                " before that, and is forgotten; the next evaluation finds another");
    best_is_forgotten_ = true;
    evaluation_.reset();
    best_.reset();
}

}
