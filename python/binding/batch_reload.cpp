// Other versions of the author's file, while it is stepped.
#include "engine/base/error.h"
#include "engine/compile/rebuild.h"
#include "engine/compile/spaces.h"
#include "engine/env/find_environment.h"
#include "engine/env/replacement.h"
#include "python/binding/batch.h"

namespace nacelle::python {

using enum Call::Length;

bool Batch::reload() {
    const Call call(*use_, lengthy);
    const std::filesystem::path file = environment().settings().source;
    SavedSource source{.files = read_closure(file), .saved = std::chrono::system_clock::now()};
    if (same_text(source.files, environment().code().files)) return false;
    if (ours_) source.refused = refused_version(source.files);
    Rebuilder rebuilder(environment().code().on, false);
    rebuilder.use(environment().programs().recipe());
    rebuilder.compile(std::move(source));
    while (!rebuilder.ready()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (interrupted()) throw nb::python_error();
    }
    const std::optional<Rebuilt> rebuilt = rebuilder.take();
    if (!rebuilt || !rebuilt->failure.empty())
        throw Error(env_.name(), rebuilt ? rebuilt->failure : "was not compiled",
                    "the version before it runs on");
    if (!rebuilt->other_spaces.empty())
        throw Error(env_.name(), rebuilt->other_spaces, "make a new environment of the file");
    Replacement replacement(environment(), *rebuilt);
    replacement.install();
    replacement.commit();
    forget_version();
    return true;
}

// What was made of the version before.
void Batch::forget_version() {
    actions_.clear();
    drawing_.reset();
}

void Batch::watch() {
    const Call call(*use_, lengthy);
    const auto refuse = [this](const std::shared_ptr<Environment>& fresh) {
        throw Error(env_.name(), difference_of_spaces(environment().schema(), fresh->schema()),
                    "make a new environment of the file");
    };
    reloader_ = std::make_unique<Reloader>(
        environment_, ReloadSettings{},
        ReloadUser{.rebuilt = [this] { rebuilt_ = true; }, .restart = refuse});
}

std::optional<std::pair<bool, std::string>> Batch::take_save() {
    if (!has_save()) return std::nullopt;
    const Call call(*use_, lengthy);
    rebuilt_ = false;
    const std::optional<Reload> found = reloader_->take();
    if (rebuilt_) forget_version();
    if (found) return std::pair(found->taken, found->text(env_.name()));
    if (rebuilt_) return std::pair(true, std::string());    // the full build behind a draft
    return std::nullopt;
}

}
