#include "engine/env/reloader.h"

#include "engine/base/error.h"
#include "engine/env/find_environment.h"

namespace nacelle {
namespace {

using OnState = ReloadSettings::OnState;
using OnSpaces = ReloadSettings::OnSpaces;

}

ReloadSettings read_reload_settings(Config reload) {
    ReloadSettings settings;
    settings.watch = reload.flag("watch", settings.watch);
    settings.on_state_change = reload.choice("on_state_change", "keep", {"keep", "reset"}) == "keep"
                                   ? OnState::keep
                                   : OnState::reset;
    settings.on_space_change =
        reload.choice("on_space_change", "stop", {"stop", "restart_learner"}) == "stop"
            ? OnSpaces::stop
            : OnSpaces::restart_learner;
    reload.finish("reload");
    return settings;
}

Json reload_json(const ReloadSettings& settings) {
    return {{"watch", settings.watch},
            {"on_state_change", settings.on_state_change == OnState::keep ? "keep" : "reset"},
            {"on_space_change",
             settings.on_space_change == OnSpaces::stop ? "stop" : "restart_learner"}};
}

Reloader::Reloader(std::shared_ptr<Environment> environment, const ReloadSettings& settings,
                   ReloadUser user, SourceWatch::Way way)
    : environment_(std::move(environment)),
      settings_(settings),
      user_(std::move(user)),
      rebuilder_(environment_->code().on, user_.restart != nullptr),
      watch_(
          environment_->settings().source, environment_->code().files,
          [this,
           ours = stranger_among(environment_->code().files).reason.empty()](SavedSource source) {
              if (ours) source.refused = refused_version(source.files);
              rebuilder_.compile(std::move(source));
          },
          way) {
    prepare();
}

// Updates the recipe; true where it had not changed.
bool Reloader::prepare() {
    const uint64_t number = environment_->programs().recipe_number();
    if (recipe_number_ == number) return true;
    recipe_number_ = number;
    Recipe recipe = environment_->programs().recipe();
    recipe.from_pool = user_.from_pool;
    rebuilder_.use(std::move(recipe));
    return false;
}

std::optional<Reload> Reloader::take() {
    prepare();
    if (!ready()) return std::nullopt;
    std::optional<Rebuilt> rebuilt = rebuilder_.take();
    if (!rebuilt) return std::nullopt;
    if (rebuilt->finishes) {
        finish(*rebuilt);
        return std::nullopt;
    }
    // A program was added since: the next compile finds the others in the cache.
    if (rebuilt->recipe_number != recipe_number_) {
        rebuilder_.compile_again(std::move(rebuilt->source));
        return std::nullopt;
    }
    Reload reload{.saved = rebuilt->source.saved,
                  .compile_seconds = rebuilt->seconds,
                  .other_spaces = rebuilt->other_spaces};
    reload.why = rebuilt->failure;
    if (reload.why.empty()) {
        // A number that was not finite before is not a problem of the reload.
        environment_->check_finite();
        try {
            swap(*rebuilt, reload);
            reload.taken = true;
            draft_.reset();
            if (rebuilt->code->stepwise.get().draft) draft_ = rebuilt->source;
        } catch (const std::exception& wrong) {
            reload.why = wrong.what();
        }
    }
    prepare();
    // Compiling this one may have ended the full build of the version that runs on.
    if (!reload.taken && draft_) rebuilder_.finish_draft(*draft_);
    reload.version = environment_->version();
    return reload;
}

// Replaces the draft by the full build, which computes the same bits faster.
void Reloader::finish(const Rebuilt& full) {
    if (!draft_ || !same_text(draft_->files, full.source.files)) return;    // the draft was refused
    draft_.reset();
    std::unique_ptr<Stepwise> draft;
    EnvPrograms::Builds drafts;    // of the programs around it
    try {
        draft = environment_->run_instead(full.code->stepwise.get());
        drafts = environment_->programs().run_instead(full.programs);
        if (user_.rebuilt) user_.rebuilt();
    } catch (const std::exception& wrong) {
        environment_->on().log.warn(std::string(wrong.what()) +
                                    "; the version runs on as the draft that it began as");
        if (!draft) return;
        environment_->exchange_build(*draft);
        environment_->programs().exchange_builds(drafts);
        if (user_.rebuilt) user_.rebuilt();
    }
    environment_->on().stream->synchronize();
}

std::string Reload::text(const std::string& name) const {
    const std::string number = std::to_string(version);
    if (taken) return name + " was reloaded; version " + number + " runs.";
    return why + "\n  " + name + " was not reloaded; version " + number + " keeps running.";
}

void Reloader::swap(const Rebuilt& rebuilt, Reload& reload) {
    Replacement replacement(*environment_, rebuilt);
    reload.state_changed = replacement.state_changed();
    const bool resets = reload.state_changed && settings_.on_state_change == OnState::reset;
    if (user_.restart && !rebuilt.other_spaces.empty()) {
        std::shared_ptr<Environment> fresh = replacement.standalone();
        if (resets) fresh->reset();
        user_.restart(fresh);
        environment_ = std::move(fresh);
        recipe_number_ = ~uint64_t(0);    // its programs have numbers of their own
        return;
    }
    replacement.install();
    try {
        if (user_.rebuilt) user_.rebuilt();
    } catch (...) {
        replacement.roll_back();
        user_.rebuilt();
        throw;
    }
    replacement.commit();
    if (resets) environment_->reset();
    environment_->on().stream->synchronize();
}

}
