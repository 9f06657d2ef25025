#include "engine/plugins/learner_instance.h"

#include "engine/base/error.h"
#include "engine/plugins/config_text.h"

namespace nacelle {

using CallContext = HostServices::CallContext;

LearnerInstance::LearnerInstance(Plugins& plugins, LazyEnvironment environment,
                                 const std::string& name, const Json& config)
    : library_(plugins.find({"learner/1", name})),
      functions_(library_->table<nacelle_learner>(
          {"learner/1", name}, {{"create", offsetof(nacelle_learner, create)},
                                {"facts", offsetof(nacelle_learner, facts)},
                                {"record", offsetof(nacelle_learner, record)},
                                {"act", offsetof(nacelle_learner, act)},
                                {"destroy", offsetof(nacelle_learner, destroy)}})),
      services_(std::make_unique<HostServices>(name, plugins, environment,
                                               HostServices::InstanceKind::learner)),
      object_(nullptr, functions_.destroy) {
    const RunsOn& on = environment.on();
    const std::string text = config_text(name, config);
    services_->call(CallContext::preparing, "create", [&] {
        object_.reset(functions_.create(services_->table(), text.c_str()));
        return object_ != nullptr;
    });
    if (on.ranks && !services_->knows_ranks())
        throw Error(name,
                    "trains in one process alone, and there are " +
                        std::to_string(on.ranks->count()) + " ranks",
                    "'ppo', 'a2c', 'torch_ppo', 'torch_a2c' and 'random_search' train in several");
    services_->call(CallContext::running, "facts", [&] {
        const nacelle_learner_facts* const told = functions_.facts(object_.get());
        if (told) facts_ = as_known(*told);
        return told != nullptr;
    });
    if (steps_per_iteration() == 0) throw Error(name, "an iteration of no steps would never end");
}

Json LearnerInstance::told_object(const char* text, const char* what) const {
    if (!text) return nullptr;
    Json object = try_parse_json(text).value_or(Json());
    if (!object.is_object())
        throw Error(name(), std::string("its ") + what + " are no JSON object: " + text);
    return object;
}
Json LearnerInstance::settings() const { return told_object(facts_.settings, "settings"); }
Json LearnerInstance::policies() const { return told_object(facts_.policies, "policies"); }

void LearnerInstance::record(void* stream) {
    services_->call(captures_itself() ? CallContext::running : CallContext::recording, "record",
                    [&] { return functions_.record(object_.get(), stream) == NACELLE_OK; });
}

void LearnerInstance::act(bool greedy, uint32_t steps, const nacelle_first_episodes* first,
                          void* stream) {
    services_->call(CallContext::running, "act", [&] {
        return functions_.act(object_.get(), greedy, steps, first, stream) == NACELLE_OK;
    });
}

void LearnerInstance::act(bool greedy, uint32_t envs, void* stream) {
    nacelle_first_episodes first{};
    first.size = sizeof first;
    first.envs = envs;
    act(greedy, 0, facts_.acts_for_some ? &first : nullptr, stream);
}

MetricValues LearnerInstance::metrics() {
    if (!functions_.metrics) return {};
    const char* const* names = nullptr;
    const double* values = nullptr;
    uint32_t count = 0;
    services_->call(CallContext::running, "metrics", [&] {
        return functions_.metrics(object_.get(), &names, &values, &count) == NACELLE_OK;
    });
    if (count > 0 && (!names || !values)) throw Error(name(), "metrics() gave no names and values");
    MetricValues found;
    for (uint32_t i = 0; i < count; ++i) found.emplace_back(names[i] ? names[i] : "", values[i]);
    return found;
}

}
