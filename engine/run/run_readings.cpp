// What a run reads between iterations: the metrics, and evaluations with their recording.
#include "engine/run/run.h"

#include <cmath>

namespace nacelle {
namespace {

// Only where episodes have ended: there is no mean over none.
void add_episodes(const Totals& totals, MetricValues& metrics) {
    metrics.emplace_back("episode.return", totals.mean_return);
    metrics.emplace_back("episode.return_deviation", totals.return_deviation);
    metrics.emplace_back("episode.length", totals.mean_length);
    if (totals.policies.size() > 1)
        for (const Totals::Policy& policy : totals.policies)
            metrics.emplace_back("policy." + policy.name + ".return", policy.mean_return);
    for (const auto& [name, value] : totals.log) metrics.emplace_back("log." + name, value);
}

}

void TrainingRun::read_metrics() {
    MetricValues& metrics = progress_.metrics;
    metrics = trainee_.learner().metrics();
    const Totals totals = trainee_.environment().take_totals();
    metrics.emplace_back("episodes", totals.episodes);
    if (totals.episodes > 0) add_episodes(totals, metrics);
    metrics.emplace_back("steps_per_second", progress_.steps_per_second);
    metrics.insert(metrics.end(), reload_metrics_.begin(), reload_metrics_.end());
    reload_metrics_.clear();
}

void TrainingRun::evaluate_now() {
    const RankPhase phase = ranks_.phase("evaluation");
    MetricValues& metrics = progress_.metrics;
    const bool both = settings_.evaluate == EvaluatedWay::both;
    // Rank 0 plays for all, and the others wait.
    const auto play_way = [&](bool greedy) {
        Evaluation found;
        if (ranks_.first())
            found = play({.episodes = settings_.episodes, .greedy = greedy},
                         EvaluationPurpose::during_training);
        double values[] = {found.mean_return, found.mean_length};
        ranks_.share(values);
        found.mean_return = values[0];
        found.mean_length = values[1];
        return found;
    };
    Evaluation found = play_way(settings_.evaluate != EvaluatedWay::sampled);
    if (both) {
        Evaluation sampled = play_way(false);
        metrics.emplace_back("evaluation.greedy.return", found.mean_return);
        metrics.emplace_back("evaluation.sampled.return", sampled.mean_return);
        if (sampled.mean_return > found.mean_return) found = std::move(sampled);
    }
    metrics.emplace_back("evaluation.return", found.mean_return);
    metrics.emplace_back("evaluation.length", found.mean_length);
    // A return that overflows is no score.
    evaluation_.reset();
    if (std::isfinite(found.mean_return)) evaluation_ = {found.mean_return, progress_.steps};
    // Returns of another problem are no measure: the environment was saved, or a parameter was set.
    if (problem_ != scored_problem_) {
        best_.reset();
        scored_problem_ = problem_;
    }
    // Of equal ones the newest: where two sides of a zero-sum game both learn, the mean return is always the same.
    if (!best_ || (evaluation_ && evaluation_->mean_return >= best_->mean_return))
        best_ = evaluation_;
    solved_ = settings_.solved_return && evaluation_ &&
              evaluation_->mean_return >= *settings_.solved_return;
}

Evaluation TrainingRun::evaluate(uint64_t episodes, bool greedy, std::function<bool()> stop) {
    return play({.episodes = episodes, .greedy = greedy, .stop = std::move(stop)},
                EvaluationPurpose::after_training);
}

// The policy that counts is recorded, of two the greedy one.
Evaluation TrainingRun::play(EvaluationRequest request, EvaluationPurpose purpose) {
    Environment& env = trainee_.environment();
    const bool counts = request.greedy == (settings_.evaluate != EvaluatedWay::sampled);
    request.seed = evaluation_seed(env.settings().seed, purpose);
    request.recorder = recording_ && counts ? &recording_->recorder(env) : nullptr;
    request.trained = progress_.steps;
    return trainee_.evaluate(request);
}

void TrainingRun::begin_recording() {
    const bool named = !start_.record_to.empty();
    const std::filesystem::path own =
        start_.out / "recordings" / ("step-" + std::to_string(progress_.steps) + ".recording");
    recording_.emplace(start_.record, named ? start_.record_to : free_path(own));
}

std::vector<std::filesystem::path> TrainingRun::finish_recording() {
    if (!recording_) return {};
    recording_->finish();
    return recording_->files();
}

}
