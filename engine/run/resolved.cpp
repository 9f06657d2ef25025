#include "engine/run/resolved.h"

#include "engine/config/describe.h"

#include <cmath>

namespace nacelle {
namespace {

bool can_be_written(const Json& value) {
    if (value.is_array()) return std::all_of(value.begin(), value.end(), can_be_written);
    return !value.is_number_float() || std::isfinite(value.get<double>());
}

// "joints.angle" goes into params.joints.angle.
Json& value_at(Json& params, const std::string& name) {
    Json* at = &params;
    size_t from = 0;
    for (size_t dot; (dot = name.find('.', from)) != name.npos; from = dot + 1)
        at = &(*at)[name.substr(from, dot - from)];
    return (*at)[name.substr(from)];
}

Json params_of(Environment& env) {
    Json params = Json::object();
    const std::map<std::string, Json>& given = env.given_params();
    for (const auto& [name, value] : given) value_at(params, name) = value;
    for (const Field* field : env.schema().params()) {
        const std::string name = field->name + std::string_view("param.").size();
        if (field->kind == Kind::table || given.contains(name)) continue;
        const Json value = short_floats(env.param(name));
        if (can_be_written(value)) value_at(params, name) = value;
    }
    return params;
}

// The learner reports its policies within its settings; a configuration has them beside.
void write_learner(const LearnerInstance& learner, Json& configuration) {
    Json told = learner.settings();
    if (told.is_object() && told.contains("policies")) {
        merge_json(configuration["policies"], told["policies"]);
        told.erase("policies");
    }
    Json& its = configuration["learner"];
    if (told.is_object()) merge_json(its, told);
    its["name"] = learner.name();
}

}

Json resolved(Json configuration, Trainee& trainee, const RunSettings& settings) {
    Environment& env = trainee.environment();
    configuration["seed"] = env.settings().seed;
    Json& its = configuration["env"];
    its["source"] = env.settings().source.string();
    its["count"] = env.count();
    its["levels"] = env.settings().levels;
    its["strict"] = env.settings().strict;
    its["params"] = params_of(env);
    write_learner(trainee.learner(), configuration);
    write_run_settings(settings, configuration);
    return configuration;
}

}
