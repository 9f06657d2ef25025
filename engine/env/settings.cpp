#include "engine/env/settings.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/config/describe.h"
#include "engine/env/param_values.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;

fs::path find_environment(const std::string& name, const std::vector<fs::path>& folders) {
    if (name.empty()) throw Error("env.source", "no environment is named");
    const bool path = name.find('/') != std::string::npos || name.ends_with(".cu");
    if (path) {
        std::error_code wrong;    // a name may be too long for any file
        if (!fs::exists(name, wrong)) throw Error(name, "no such file");
        if (fs::is_directory(name, wrong))
            throw Error(name, "is a directory, not an environment", "name a .cu file");
        return fs::absolute(name).lexically_normal();
    }
    std::vector<std::string> names;
    for (const fs::path& folder : folders) {
        const fs::path file = folder / (name + ".cu");
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) return fs::absolute(file).lexically_normal();
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension() == ".cu") names.push_back(entry.path().stem());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    throw Error(name, "there is no such environment", suggest(name, names));
}

EnvSource source_of(const EnvSettings& settings) {
    return {.file = settings.source,
            .constants = settings.constants,
            .varied = varied_params(flatten_params(settings.params)),
            .strict = settings.strict,
            .where = settings.where};
}

EnvSettings read_env_settings(Config env, uint64_t seed, const std::vector<fs::path>& folders,
                              uint32_t usual_count) {
    EnvSettings settings;
    settings.where = env.where();
    settings.seed = seed;
    settings.source = find_environment(env.text("source", ""), folders);
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
    settings.params = env.object("params").json();
    env.finish("env");
    return settings;
}

}
