#include "engine/env/lazy_environment.h"

namespace nacelle {

LazyEnvironment::LazyEnvironment(std::shared_ptr<RunsOn> on, EnvSettings settings, Loaded loaded)
    : settings_(std::move(settings)),
      code_(compile_env(std::move(on), source_of(settings_), {.aside = true})),
      made_(std::async(std::launch::deferred, [settings = settings_, code = code_,
                                               loaded = std::move(loaded)] {
                return std::make_shared<Environment>(code, settings, loaded);
            }).share()) {}

LazyEnvironment::LazyEnvironment(std::shared_ptr<Environment> made)
    : settings_(made->settings()), code_(made->code()) {
    std::promise<std::shared_ptr<Environment>> there;
    there.set_value(std::move(made));
    made_ = there.get_future().share();
}

LazyEnvironment::LazyEnvironment(Environment& made)
    : LazyEnvironment(std::shared_ptr<Environment>(std::shared_ptr<void>(), &made)) {}

const EnvCode& LazyEnvironment::code() const { return is_made() ? get()->code() : code_; }

}
