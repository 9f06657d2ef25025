#include "engine/watch/session.h"

#include "engine/base/error.h"
#include "engine/compile/spaces.h"
#include "engine/watch/problem.h"

#include <algorithm>

namespace nacelle {
namespace {

// In seconds: how long steps may delay a command, how often the status is sent, and the time over which the episodes
// of a curve are averaged.
constexpr double slice = 0.02, between_reports = 0.1, between_sums = 0.5;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

ReloadUser user_of(Trainee* trainee) {
    ReloadUser user{.from_pool = false};
    if (!trainee) return user;
    user.rebuilt = [trainee] { trainee->reloaded(); };
    user.restart = [trainee](const std::shared_ptr<Environment>& fresh) {
        throw Error(fresh->settings().source.filename().string(),
                    difference_of_spaces(trainee->environment().schema(), fresh->schema()) +
                        ": the policy cannot act in it",
                    "without --policy actions are random");
    };
    return user;
}

}

WatchSession::WatchSession(std::shared_ptr<Environment> env, std::unique_ptr<Trainee> trainee,
                           std::shared_ptr<ChannelViewer> viewer, const WatchSettings& settings,
                           std::string policy)
    : env_(std::move(env)),
      trainee_(std::move(trainee)),
      viewer_(std::move(viewer)),
      settings_(settings),
      policy_(std::move(policy)),
      display_(viewer_, {}),
      reloader_(env_, {}, user_of(trainee_.get())),
      data_(settings_.configured) {}

void WatchSession::run() {
    due_ = told_ = summed_ = Clock::now();
    display_.attach(env(), policy_);
    if (!settings_.record.environments.empty()) {
        recording_.emplace(settings_.record, settings_.record_to, settings_.trained);
        recording_->begin(env(), trainee_ != nullptr);    // a checkpoint's episodes are under way
        tell_recording();
    }
    tell_news();
    tell_status();
    while (!over()) {
        for (const Json& command : viewer_->commands()) obey(command);
        take_reload();
        take_data();
        step_as_due();
        tell(false);
        display_.show_if_wanted(taken_);
        if (const double seconds = seconds_to_wait(); seconds > 0 && !over())
            viewer_->wait(seconds);
    }
    tell(true);
    if (recording_) {
        recording_->finish();
        tell_recording();
    }
    display_.detach();
}

double WatchSession::seconds_to_wait() const {
    if (single_) return 0;
    if (settings_.paused) return 0.03;
    if (settings_.pace <= 0) return 0;
    return std::clamp(seconds_between(Clock::now(), due_), 0.0, slice);
}

void WatchSession::obey(const Json& command) {
    const std::string what = command["do"];
    if (recording_) recording_->take_pending();
    if (what == "quit") quits_ = true;
    else if (what == "pause") settings_.paused = true;
    else if (what == "play") {
        settings_.paused = false;
        due_ = Clock::now();
    } else if (what == "step") {
        settings_.paused = true;
        ++single_;
    } else if (what == "pace") {
        const Json value = command.value("value", Json());
        if (value.is_number()) settings_.pace = std::clamp(value.get<double>(), 0.0, 1e6);
        due_ = Clock::now();
    } else if (what == "reset") {
        env().reset();
        if (recording_) recording_->restarted();
        display_.show_again();
    } else if (what == "param")
        display_.set_param(command, [&](const std::string& name, const Json& value) {
            env().set_param(name, value);
        });
    else display_.obey(command);
    tell_status();
}

void WatchSession::take_reload() {
    if (!reloader_.ready()) return;
    if (recording_) recording_->take_pending();
    const std::optional<Reload> found = reloader_.take();
    if (!found) return;
    problem_ = found->taken ? Json() : problem_json(found->text(env().name()));
    if (found->taken) {
        reload_ = found;
        if (settings_.paused) ++single_;    // what is new is to be seen
        display_.attach(env(), policy_);
        if (recording_) record_version();
    } else tell_news();
}

void WatchSession::take_data() {
    for (const SavedData::Taken& taken : data_.take(env())) {
        data_problem_ = taken.wrong ? problem_json(taken.text) : Json();
        if (!taken.wrong) last_data_ = taken.text;
        if (taken.restarts) {
            if (recording_) recording_->take_pending();
            env().reset();
            if (recording_) {
                recording_->restarted();
                record_version();
            }
        }
        display_.show_parameters();
        display_.show_again();
        tell_news();
    }
}

// If a recorded array is gone after a save, only the recording stops.
void WatchSession::record_version() {
    std::string wrong;
    try {
        recording_->reloaded();
    } catch (const Error& error) {
        wrong = error.what();
    }
    tell_recording();
    if (wrong.empty()) return;
    problem_ = problem_json(wrong + "\n  Nothing is recorded until a version has it again.");
    tell_news();
}

void WatchSession::step_once() {
    if (trainee_) {
        trainee_->act(!settings_.sampled);
        env().step();
    } else env().step_at_random();
    ++taken_;
    if (recording_) recording_->stepped();
    if (!reload_) return;
    env().on().stream->synchronize();
    last_reload_ = {{"version", reload_->version},
                    {"seconds", reload_->seconds_since_saved()},
                    {"compile_seconds", reload_->compile_seconds},
                    {"step", taken_},
                    {"state", reload_->state_changed ? "changed" : "kept"}};
    ++reloads_;
    last_data_ = Json();
    reload_.reset();
    tell_news();
}

void WatchSession::step_as_due() {
    for (; single_ && !over(); --single_) {
        step_once();
        display_.show_again();
    }
    if (settings_.paused) return;
    const Clock::time_point start = Clock::now();
    const auto each = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(settings_.pace > 0 ? 1 / settings_.pace : 0));
    // A slow machine does not catch up later.
    if (seconds_between(due_, start) > 0.25) due_ = start;
    while (!over() && due_ <= Clock::now()) {
        step_once();
        due_ += each;
        if (seconds_between(start, Clock::now()) > slice) break;
    }
}

void WatchSession::tell(bool at_once) {
    const Clock::time_point now = Clock::now();
    if (at_once || seconds_between(summed_, now) > between_sums) {
        summed_ = now;
        const Totals totals = env().take_totals();
        if (totals.episodes > 0) {
            episodes_ += totals.episodes;
            const auto step = double(taken_);
            curves_.add("episode.return", step, totals.mean_return);
            curves_.add("episode.length", step, totals.mean_length);
            for (const Totals::Policy& policy : totals.policies)
                if (totals.policies.size() > 1)
                    curves_.add("policy." + policy.name + ".return", step, policy.mean_return);
            for (const auto& [name, value] : totals.log) curves_.add("log." + name, step, value);
            totals_ = totals;
        }
        if (curves_.changed()) viewer_->show("curves", curves_.text());
    }
    if (!at_once && seconds_between(told_, now) < between_reports) return;
    if (recording_) {
        recording_->take_pending();
        tell_recording();
    }
    env().check_finite();
    // No rate for a short time at the very end.
    if (const double seconds = seconds_between(told_, now); seconds >= between_reports) {
        const double rate = double(taken_ - told_steps_) * env().count() / seconds;
        rate_ = rate_ > 0 ? 0.8 * rate_ + 0.2 * rate : rate;
        told_ = now;
        told_steps_ = taken_;
    }
    tell_status();
}

void WatchSession::tell_status() {
    const char* const state = over() ? "ended" : settings_.paused ? "paused" : "runs";
    Json status = {{"mode", "watch"},        {"state", state},
                   {"pace", settings_.pace}, {"rate", settings_.paused ? 0 : rate_},
                   {"step", taken_},         {"episodes", episodes_}};
    if (episodes_ > 0) {
        status["return"] = totals_.mean_return;
        status["length"] = totals_.mean_length;
    }
    viewer_->show("status", json_text(status));
}

void WatchSession::tell_recording() { viewer_->show("recording", json_text(recording_->files())); }

void WatchSession::tell_news() {
    viewer_->show("news", json_text({{"problem", problem_.is_null() ? data_problem_ : problem_},
                                     {"reload", last_reload_},
                                     {"reloads", reloads_},
                                     {"data", last_data_}}));
}

}
