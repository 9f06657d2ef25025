#include "engine/env/settings.h"

#include "engine/config/describe.h"
#include "engine/env/find_environment.h"
#include "engine/env/param_values.h"
#include "engine/env/policy_settings.h"

namespace nacelle {

EnvSource source_of(const EnvSettings& settings) {
    return {.file = settings.source,
            .constants = settings.constants,
            .varied = varied_params(flatten_params(settings.params)),
            .policies = settings.policies,
            .strict = settings.strict,
            .where = settings.where};
}

EnvSettings read_env_settings(Config env, uint64_t seed, const std::vector<fs::path>& folders,
                              uint32_t usual_count) {
    EnvSettings settings;
    settings.where = env.where();
    settings.seed = seed;
    settings.source = find_environment(env.text("source", ""), folders);
    if (env.has("count") && env.any("count") == "auto")
        throw Error(env.where() + ": env.count", "\"auto\" is found out by trials before a run",
                    "'nacelle train' and 'nacelle bench --train' make them; give a number here");
    settings.count = static_cast<uint32_t>(env.integer("count", usual_count, 1, most_envs));
    settings.levels = static_cast<uint32_t>(env.integer("levels", 0, 0, 2147483647));
    settings.strict = env.flag("strict", false);
    Config constants = env.object("constants");
    for (const std::string& key : constants.keys()) {
        const Json value = constants.any(key);
        if (!value.is_boolean() && !value.is_number())
            constants.fail(key, "expected a number, true or false, found " + describe(value));
        settings.constants[key] =
            value.is_boolean() ? double(value.get<bool>()) : constants.number(key, 0);
    }
    settings.policies = read_policies(env.object("policies"));
    settings.params = env.object("params").json();
    env.finish("env");
    return settings;
}

}
