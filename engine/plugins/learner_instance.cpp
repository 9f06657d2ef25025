#include "engine/plugins/learner_instance.h"

#include "engine/base/error.h"
#include "engine/plugins/config_text.h"

namespace nacelle {

using Moment = HostServices::Moment;

LearnerInstance::LearnerInstance(Plugins& plugins, Environment& environment,
                                 const std::string& name, const Json& config)
    : library_(plugins.find({"learner/1", name})),
      functions_(&library_->table<nacelle_learner>({"learner/1", name})),
      services_(std::make_unique<HostServices>(name, plugins, environment, false)),
      object_(nullptr, functions_->destroy) {
    const std::string text = config_text(name, config);
    services_->call(Moment::preparing, "create", [&] {
        object_.reset(functions_->create(services_->table(), text.c_str()));
        return object_ != nullptr;
    });
}

Json LearnerInstance::settings() const {
    if (!has(&nacelle_learner::settings)) return nullptr;
    const char* const text = functions_->settings(object_.get());
    if (!text) return nullptr;
    Json settings = try_parse_json(text).value_or(Json());
    if (!settings.is_object())
        throw Error(name(), "settings() gave no JSON object: " + std::string(text));
    return settings;
}

uint64_t LearnerInstance::steps_per_iteration() const {
    return functions_->steps_per_iteration(object_.get());
}

void LearnerInstance::record(void* stream) {
    services_->refresh_kernels();
    services_->call(Moment::recording, "record",
                    [&] { return functions_->record(object_.get(), stream) == NACELLE_OK; });
}

void LearnerInstance::act(bool greedy, void* stream) {
    services_->call(Moment::running, "act",
                    [&] { return functions_->act(object_.get(), greedy, stream) == NACELLE_OK; });
}

bool LearnerInstance::plays() const {
    return has(&nacelle_learner::plays) && has(&nacelle_learner::play) &&
           functions_->plays(object_.get()) != 0;
}

void LearnerInstance::play(bool greedy, uint32_t steps, const nacelle_first_episodes& first,
                           void* stream) {
    services_->call(Moment::running, "play", [&] {
        return functions_->play(object_.get(), greedy, steps, &first, stream) == NACELLE_OK;
    });
}

MetricValues LearnerInstance::metrics() {
    const char* const* names = nullptr;
    const double* values = nullptr;
    uint32_t count = 0;
    services_->call(Moment::running, "metrics", [&] {
        return functions_->metrics(object_.get(), &names, &values, &count) == NACELLE_OK;
    });
    if (count > 0 && (!names || !values)) throw Error(name(), "metrics() gave no names and values");
    MetricValues found;
    for (uint32_t i = 0; i < count; ++i) found.emplace_back(names[i] ? names[i] : "", values[i]);
    return found;
}

}
