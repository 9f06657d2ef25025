#include "engine/run/run.h"

#include "engine/base/error.h"
#include "engine/base/seconds_since.h"
#include "engine/run/problem.h"
#include "engine/run/resolved.h"
#include "engine/run/stagger.h"

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;

// In seconds: how often metrics are read by default, how long the device runs before the host checks whether to stop,
// and how long sinks may buffer.
constexpr double between_reads = 0.1, between_looks = 0.05, between_flushes = 1;
constexpr std::chrono::seconds between_syncs{1};
// A best policy whose writing takes so many seconds is written after so many times as long at the earliest.
constexpr double long_write = 0.05, writes_apart = 20;

// Iterations until the count of them is a multiple of `every`.
uint64_t until_multiple(uint64_t iteration, uint64_t every) { return every - iteration % every; }

uint64_t divided_up(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

// Refuses a recording that is impossible before the run has a directory.
void require_recordable(Environment& env, const RunStart& start, const RunSettings& settings) {
    recording_header(env, start.record);
    const uint32_t last = start.record.environments.back();
    if (!settings.evaluate_every)
        throw Error("run.evaluate_every", "is 0, so that there is no evaluation to be recorded");
    if (last >= settings.episodes)
        throw Error("solved.episodes",
                    "is " + std::to_string(settings.episodes) + ", so that environment " +
                        std::to_string(last) + " plays none of them",
                    "environments 0 to " + std::to_string(settings.episodes - 1) +
                        " can be recorded");
    if (std::filesystem::exists(start.record_to))
        throw Error(start.record_to.string(), "is there already", "a recording overwrites nothing");
}

}

TrainingRun::TrainingRun(const LazyEnvironment& environment, Plugins& plugins,
                         const Json& configuration, const std::string& where, RunStart start)
    : start_(std::move(start)),
      trainee_(environment, plugins, configuration, where),
      ranks_(trainee_.environment().on()),
      steps_each_(trainee_.learner().steps_per_iteration() * ranks_.count()) {
    settings_ = read_run_settings(configuration, where, steps_each_);
    Environment& env = trainee_.environment();
    if (start_.resume) env.forget_given_defaults();
    settings_.ranks = ranks_.count();
    if (!settings_.stagger)
        settings_.stagger = sees_one_phase(env, trainee_.learner().steps_per_iteration());
    if (*settings_.stagger) stagger_first_episodes(env, where);
    given_ = configuration;
    resolve();
    progress_.total_steps = settings_.total_steps;
    env.set_progress(EpisodeProgress::over(
        std::max<uint64_t>(1, settings_.total_steps / env.count() / ranks_.count())));
    ranks_.require_same(configuration_, trainee_.files().hashes.files);
    iteration_ = trainee_.iteration();
    // Of several ranks the first one writes.
    ranks_.by_first([&] {
        if (!start_.record.environments.empty()) require_recordable(env, start_, settings_);
        if (!start_.out.empty() || !start_.next.empty()) open_directory(plugins);
    });
    if (start_.resume) go_on();
    ranks_.by_first([&] {
        if (directory_) begin_directory(plugins);
    });
    saves_ = ranks_.decide(directory_.has_value(), false).number != 0;
    if (!start_.record.environments.empty()) begin_recording();
    if (!start_.watch || !settings_.reload.watch) return;
    if (!ranks_.several()) watch();
    else if (ranks_.first()) notice_saves();
}

// Steps that can fail without the directory come before it, so that no empty directory is left.
void TrainingRun::open_directory(Plugins& plugins) {
    for (const SinkSettings& sink : settings_.sinks) plugins.find({"sink/1", sink.name});
    directory_.emplace(start_.resume ? RunDirectory::open(start_.out)
                       : start_.next.empty()
                           ? RunDirectory::create(start_.out, trainee_.files().files)
                           : RunDirectory::create_next(start_.next));
    start_.out = directory_->path();
    directory_->sync(!start_.synced_together);
}

// The configuration comes last: it makes the directory a run's.
void TrainingRun::begin_directory(Plugins& plugins) {
    try {
        for (const SinkSettings& sink : settings_.sinks)
            sinks_.push_back(
                std::make_unique<SinkInstance>(plugins, sink.name, start_.out, sink.config));
    } catch (...) {
        sinks_.clear();
        directory_->discard();
        throw;
    }
    if (start_.resume)
        for (const auto& sink : sinks_) sink->rewind(progress_.steps);
    if (best_is_forgotten_) directory_->checkpoints().remove_best();
    directory_->keep_source(progress_.steps, trainee_.files().files);
    if (!start_.resume || run_configuration(start_.out) != configuration_)
        directory_->write_configuration(configuration_);
}

void TrainingRun::resolve() {
    configuration_ = resolved(given_, trainee_, settings_);
    problem_ = problem_of(configuration_, trainee_.files());
}

bool TrainingRun::over() const { return solved_ || progress_.steps >= settings_.total_steps; }

// Iterations until the host has something to do.
uint64_t TrainingRun::iterations_ahead() const {
    uint64_t ahead = divided_up(settings_.total_steps - progress_.steps, steps_each_);
    if (const uint64_t every = settings_.checkpoint_every)
        ahead = std::min(ahead, divided_up(until_multiple(progress_.steps, every), steps_each_));
    for (const uint64_t every : {settings_.evaluate_every, settings_.report_every})
        if (every) ahead = std::min(ahead, until_multiple(progress_.iteration, every));
    if (start_.until > progress_.steps)
        ahead = std::min(ahead, divided_up(start_.until - progress_.steps, steps_each_));
    return ahead;
}

// How many of the iterations that are left run before the host looks again; rank 0 decides, and each rank may end it.
uint64_t TrainingRun::burst(uint64_t left) {
    const double fitting = pace_ > 0 ? between_looks / pace_ : 1;
    const uint64_t wanted = reload_ || left == 0      ? std::min<uint64_t>(left, 1)
                            : fitting >= double(left) ? left
                                                      : std::max<uint64_t>(1, uint64_t(fitting));
    if (!ranks_.several()) return wanted;
    const RunRanks::Decided decided = ranks_.decide(wanted, stop_ && stop_());
    told_to_stop_ = decided.stops;
    return decided.stops ? 0 : decided.number;
}

// The device runs several iterations while the host waits for the last one.
void TrainingRun::advance() {
    Stream& stream = *trainee_.environment().on().stream;
    const Clock::time_point start = Clock::now();
    uint64_t left = iterations_ahead();
    const uint64_t before = progress_.steps;
    uint64_t now = burst(left);
    do {
        const Clock::time_point begin = Clock::now();
        for (uint64_t i = 0; i < now; ++i) iteration_->run();
        ranks_.synchronize(stream);
        if (now) pace_ = seconds_since(begin) / double(now);
        progress_.iteration += now;
        progress_.steps += now * steps_each_;
        left -= now;
        if (reload_) end_reload();
        if (look_) look_(progress_.steps);
        if (left && take_reload()) left = iterations_ahead();
        const bool more =
            left && !asked_to_stop() &&
            (reload_ || settings_.report_every || seconds_since(start) < between_reads);
        now = more || ranks_.several() ? burst(more ? left : 0) : 0;
    } while (now);
    progress_.steps_per_second =
        double(progress_.steps - before) / std::max(seconds_since(start), 1e-9);
}

bool TrainingRun::iterate() {
    try {
        return run_to_next_reading();
    } catch (const std::exception& failure) {
        ranks_.end_waits();
        keep_state({.seconds = directory_ ? read_run_state(start_.out).seconds : 0,
                    .failure = failure.what()});
        throw;
    }
}

void TrainingRun::keep_state(const RunState& state) {
    if (!directory_) return;
    try {
        write_run_state(directory_->held(), state);
    } catch (const Error&) {
        // The run does not need it, and what is wrong with the directory the next checkpoint says.
    }
}

bool TrainingRun::run_to_next_reading() {
    if (over() || paused() || asked_to_stop()) return false;
    take_reload();
    if (stopped_) return false;
    const RankPhase phase = ranks_.phase("training");
    const Clock::time_point start = Clock::now();
    const uint64_t before = progress_.steps;
    const double saving = save_seconds_;
    advance();
    trainee_.environment().check_finite();
    read_metrics();
    const bool last = progress_.steps >= settings_.total_steps;
    const uint64_t evaluate = settings_.evaluate_every, every = settings_.checkpoint_every;
    if (std::exchange(given_params_changed_, false)) {
        resolve();
        keep_configuration();
    }
    if (evaluate && (last || progress_.iteration % evaluate == 0)) evaluate_now();
    seconds_ = seconds_before_ + train_seconds_ + save_seconds_ + seconds_since(start);
    progress_.metrics.emplace_back("seconds", seconds_);
    for (const auto& sink : sinks_) sink->write(progress_.steps, progress_.metrics);
    if (best_ && best_->steps == progress_.steps) save(true);
    if (over() || (every && before / every < progress_.steps / every)) save(false);
    train_seconds_ += seconds_since(start) - (save_seconds_ - saving);
    if (train_seconds_ - flushed_ > between_flushes) {
        flushed_ = train_seconds_;
        for (const auto& sink : sinks_) sink->flush();
    }
    progress_.seconds_left = over() ? 0
                                    : train_seconds_ *
                                          double(settings_.total_steps - progress_.steps) /
                                          double(progress_.steps - first_steps_);
    return !over() && !paused() && !asked_to_stop();
}

void TrainingRun::save(bool as_best) {
    if (!saves_) return;
    const RankPhase phase = ranks_.phase("save");
    const Clock::time_point start = Clock::now();
    // Metrics first: a run that continues from this checkpoint must have the earlier ones.
    for (const auto& sink : sinks_) sink->flush();
    CheckpointRecord record = trainee_.checkpoint_record();
    record.iteration = progress_.iteration;
    record.steps = progress_.steps;
    record.evaluation = evaluation_;
    record.best = best_;
    if (evaluation_ || best_) record.problem = scored_problem_;
    std::string tensors = trainee_.tensors(ranks_);
    ranks_.by_first([&] { require_finite(tensors); });
    if (!as_best) saved_ = progress_.steps;
    if (!directory_) return;
    const bool due = !start_.synced_together || start - synced_ > between_syncs;
    directory_->sync(due);
    if (as_best) unsaved_best_ = {record, std::move(tensors)};
    if (!as_best || (due && seconds_since(best_saved_) > wait_for_best_)) save_best();
    if (!as_best) {
        const Checkpoints checkpoints = directory_->checkpoints();
        checkpoints.save(record, tensors, false);
        keep_state({.seconds = seconds_});
        // What a power cut may damage is no reason to remove what it cannot.
        if (due) checkpoints.prune(settings_.keep, progress_.steps);
    }
    if (due) synced_ = start;
    save_seconds_ += seconds_since(start);
}

// A small run finds a better policy every few milliseconds, and one that keeps a replay writes long: not each is written. A
// run that is killed before it was goes back to a checkpoint, and finds that policy again.
void TrainingRun::save_best() {
    if (!unsaved_best_) return;
    const Clock::time_point start = Clock::now();
    directory_->checkpoints().save(unsaved_best_->first, unsaved_best_->second, true);
    unsaved_best_.reset();
    const double took = seconds_since(start);
    best_saved_ = Clock::now();
    wait_for_best_ = took > long_write ? took * writes_apart : 0;
}

void TrainingRun::save_now() {
    if (!saves_)
        throw Error("this run", "has no directory in which a checkpoint could be saved",
                    "a run gets one when it begins");
    if (saved_ != progress_.steps) save(false);
}

void TrainingRun::stop() {
    finish();
    stop_ = [] { return true; };
}

void TrainingRun::finish() {
    if (saved_ != progress_.steps) save(false);
    save_best();
    for (const auto& sink : sinks_) sink->flush();
}

}
