// Saves during training.
#include "engine/base/error.h"
#include "engine/compile/spaces.h"
#include "engine/run/resolved.h"
#include "engine/run/run.h"

namespace nacelle {

void TrainingRun::watch() {
    reloader_ =
        std::make_unique<Reloader>(trainee_.shared_environment(), settings_.reload,
                                   ReloadUser{.rebuilt =
                                                  [this] {
                                                      trainee_.reloaded();
                                                      iteration_ = trainee_.iteration();
                                                  },
                                              .restart =
                                                  [this](std::shared_ptr<Environment> environment) {
                                                      restart(std::move(environment));
                                                  },
                                              .from_pool = false});
}

void TrainingRun::notice_saves() {
    const Environment& env = trainee_.environment();
    source_watch_ = std::make_unique<SourceWatch>(env.settings().source, env.code().files,
                                                  [this](SavedSource) { saved_source_ = true; });
}

void TrainingRun::refuse_save() {
    const Environment& env = trainee_.environment();
    RunReload refused;
    refused.version = env.version();
    refused.environment = env.name();
    refused.steps = progress_.steps;
    refused.why = "a save is not taken while several ranks train";
    refused.text = env.settings().source.filename().string() + " was saved, and " +
                   std::to_string(ranks_.count()) +
                   " ranks train on with the version that they began with: end the run, and "
                   "'resume --changed-source' goes on with the new one";
    tell(refused, LogLevel::warning);
}

// Takes a save; whether a new version runs now.
bool TrainingRun::take_reload() {
    if (saved_source_.exchange(false)) refuse_save();
    if (!reloader_) return false;
    const uint64_t layout = trainee_.environment().schema().header().layout;
    const std::optional<Reload> found = reloader_->take();
    if (!found) return false;
    const std::string name = trainee_.environment().name();
    RunReload reload{*found, name, found->text(name), progress_.steps,
                     found->seconds_since_saved()};
    reload.restarted = reload.taken && !reload.other_spaces.empty();
    if (!reload.taken) {
        if (stopped_)
            reload.text =
                reload.why + "\n  The run stops at step " + std::to_string(progress_.steps) + ".";
        tell(reload, LogLevel::warning);
        return false;
    }
    keep_version(reload.restarted || trainee_.environment().schema().header().layout != layout);
    reload_ = std::move(reload);
    return true;
}

void TrainingRun::restart(std::shared_ptr<Environment> environment) {
    const std::string source = environment->settings().source.filename().string();
    const std::string what =
        difference_of_spaces(trainee_.environment().schema(), environment->schema());
    if (settings_.reload.on_space_change == ReloadSettings::OnSpaces::stop) {
        stopped_ = true;
        throw Error(source, what + ": the learner cannot go on with what it has learnt",
                    "with reload.on_space_change=restart_learner it would begin anew");
    }
    iteration_ = trainee_.restart(std::move(environment));
    steps_each_ = trainee_.learner().steps_per_iteration();
    pace_ = 0;
}

// Keeps the directory in agreement with what runs. After a change of arrays the earlier checkpoints and the best one
// no longer fit.
void TrainingRun::keep_version(bool other_layout) {
    resolve();
    if (recording_) recording_->reloaded();
    if (other_layout) {
        evaluation_.reset();
        best_.reset();
    }
    if (!directory_) return;
    directory_->keep_source(progress_.steps, trainee_.files().files);
    keep_configuration();
    if (!other_layout) return;
    unsaved_best_.reset();
    directory_->checkpoints().remove_best();
    save(false);
}

void TrainingRun::keep_configuration() {
    if (directory_ && run_configuration(start_.out) != configuration_)
        directory_->write_configuration(configuration_);
}

void TrainingRun::set_param(const std::string& name, const Json& value) {
    if (ranks_.several())
        throw Error("env.params." + name, "cannot be set while several ranks train",
                    "the configuration sets it for all of them");
    trainee_.environment().set_param(name, value);
    given_params_changed_ = true;
}

void TrainingRun::end_reload() {
    reload_->seconds = reload_->seconds_since_saved();
    reload_metrics_ = {{"reload.version", double(reload_->version)},
                       {"reload.seconds", reload_->seconds}};
    tell(*reload_, LogLevel::info);
    reload_.reset();
}

// A callback may throw: the run continues.
void TrainingRun::tell(const RunReload& reload, LogLevel level) {
    const Log& log = trainee_.environment().on().log;
    try {
        if (told_) told_(reload);
        else log.write(level, reload.text);
    } catch (const std::exception& wrong) {
        log.warn(std::string("a reload could not be told of: ") + wrong.what());
    }
}

}
