#include "engine/watch/training_view.h"

#include "engine/base/error.h"
#include "engine/watch/problem.h"

#include <thread>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;

// Shares of the time of the training thread and of the painting thread.
constexpr DisplayLimits limits{.copying = 0.008, .painting = 0.01, .pictures = 30};
constexpr std::chrono::milliseconds between_progress{250}, between_looks{20};

Json news(const Json& problem, const Json& reload, uint64_t reloads) {
    return {{"problem", problem}, {"reload", reload}, {"reloads", reloads}};
}

}

TrainingView::TrainingView(TrainingRun& run, std::shared_ptr<Viewer> viewer,
                           std::function<bool()> stops)
    : run_(run),
      viewer_(std::move(viewer)),
      stops_(std::move(stops)),
      display_(viewer_, limits),
      steps_(run.progress().steps) {
    viewer_->show("news", json_text(news(nullptr, nullptr, 0)));
    tell_status();
    run_.at_boundaries([this](uint64_t steps) { look(steps); });
}

TrainingView::~TrainingView() { run_.at_boundaries({}); }

// Usually there is nothing to do, and this costs a few comparisons.
void TrainingView::look(uint64_t steps) {
    steps_ = steps;
    do {
        Environment& env = run_.environment();
        if (shown_ != &env || shown_version_ != env.version()) {
            shown_ = &env;
            shown_version_ = env.version();
            display_.attach(env, "those of the run");
        }
        for (const Json& command : viewer_->commands()) obey(command);
        display_.show_if_wanted(steps);
        if (!paused_) return;
        if (singles_) {
            --singles_;
            return;
        }
        tell_status();
        std::this_thread::sleep_for(between_looks);
    } while (!stops_());
}

void TrainingView::obey(const Json& command) {
    const std::string what = command["do"];
    if (what == "pause") paused_ = true;
    else if (what == "play") paused_ = false;
    else if (what == "step") {
        paused_ = true;
        ++singles_;
    } else if (what == "param")
        display_.set_param(command, [&](const std::string& name, const Json& value) {
            run_.set_param(name, value);
        });
    else display_.obey(command);
    tell_status();
}

void TrainingView::progressed() {
    const Progress& progress = run_.progress();
    steps_ = progress.steps;
    for (const auto& [name, value] : progress.metrics)
        if (name != "episodes" && name != "seconds") curves_.add(name, double(steps_), value);
    const Clock::time_point now = Clock::now();
    if (now - told_ < between_progress) return;
    told_ = now;
    viewer_->show("curves", curves_.text());
    tell_status();
}

void TrainingView::reloaded(const RunReload& reload) {
    if (reload.taken) {
        ++reloads_;
        last_reload_ = {{"version", reload.version},
                        {"seconds", reload.seconds},
                        {"compile_seconds", reload.compile_seconds},
                        {"step", reload.steps},
                        {"state", reload.state_changed ? "changed" : "kept"}};
    }
    const Json problem = reload.taken ? Json() : problem_json(reload.text);
    viewer_->show("news", json_text(news(problem, last_reload_, reloads_)));
}

void TrainingView::tell_status() {
    const Progress& progress = run_.progress();
    Json status = {{"mode", "train"},
                   {"state", paused_ ? "paused" : "runs"},
                   {"rate", paused_ ? 0 : progress.steps_per_second},
                   {"step", steps_},
                   {"total_steps", progress.total_steps},
                   {"seconds_left", progress.seconds_left}};
    for (const auto& [name, value] : progress.metrics) {
        if (name == "episode.return") status["return"] = value;
        if (name == "episode.length") status["length"] = value;
        if (name == "evaluation.return") status["policy_return"] = value;
    }
    viewer_->show("status", json_text(status));
}

}
