#include "tools/acting.h"

#include "engine/base/error.h"
#include "engine/env/param_values.h"
#include "engine/run/directory.h"

namespace nacelle::tools {
namespace {

void require_of_use(const std::string& assignment) {
    const std::string part = assignment.substr(0, assignment.find_first_of(".="));
    if (part != "env" && part != "hooks" && part != "learner" && part != "policies")
        throw Error("--set " + assignment, "'" + part + "' is nothing to a policy that acts",
                    "there is: env, hooks, learner, policies");
}

void compute_in_f32(Json& configuration) {
    if (!configuration.contains("policies")) return;
    for (auto& [name, policy] : configuration["policies"].items()) {
        if (!policy.is_object() || !policy.contains("precision")) continue;
        policy["precision"] = "f32";
        policy.erase("execution");
    }
}

// Who acts meets nobody's past, and keeps nothing of what is observed.
void leave_what_learns(Json& configuration) {
    if (configuration.contains("learner")) configuration["learner"].erase("kept_observations");
    if (!configuration.contains("policies")) return;
    for (auto& [name, policy] : configuration["policies"].items())
        if (policy.is_object()) policy.erase("opponents");
}

// A trained policy that is to act at random leaves its other settings in the run, and keeps those that are given here.
void leave_to_chance(const Json& before, Json& policies) {
    for (auto& [name, policy] : policies.items()) {
        if (!policy.is_object() || policy.value("train", Json()) != "random" ||
            !before.contains(name))
            continue;
        const Json its = policy;
        for (const auto& [key, value] : its.items())
            if (key != "train" && before[name].value(key, Json()) == value) policy.erase(key);
    }
}

// A checkpoint has an array for each drawn parameter, so that a number in its place becomes a distribution as well.
void keep_drawn(const Json& before, Json& now, const std::string& path) {
    if (is_distribution(before)) {
        if (now.is_object()) return;
        Json always;
        always["choice"] = Json::array({now});
        now = std::move(always);
    } else if (is_distribution(now))
        throw Error(path, "was one number in training, and the checkpoint has no array of it",
                    "a number");
    else if (before.is_object() && now.is_object())
        for (const auto& [name, value] : before.items())
            if (now.contains(name)) keep_drawn(value, now[name], path + "." + name);
}

// The configuration `own` of a run with the options over it.
ResolvedConfiguration configuration_over(const Json& own, const std::filesystem::path& run,
                                         const Options& options) {
    for (const std::string& assignment : options.assignments) require_of_use(assignment);
    ResolvedConfiguration configuration = changed_by(options, own, (run / "config.json").string());
    const Json::json_pointer params("/env/params");
    if (own.contains(params) && configuration.json.contains(params))
        keep_drawn(own[params], configuration.json[params], "env.params");
    return configuration;
}

}

ResolvedConfiguration acting_configuration(const std::filesystem::path& run, const Options& options,
                                           bool on_gpu) {
    Json own = run_configuration(run);
    if (!on_gpu) compute_in_f32(own);
    leave_what_learns(own);
    ResolvedConfiguration configuration = configuration_over(own, run, options);
    if (own.contains("policies") && configuration.json.contains("policies"))
        leave_to_chance(own["policies"], configuration.json["policies"]);
    return configuration;
}

ResolvedConfiguration environment_configuration(const std::filesystem::path& run,
                                                const Options& options) {
    Json own = run_configuration(run);
    own.erase("policies");
    return configuration_over(own, run, options);
}

}
