#include "engine/run/configuration.h"

#include "engine/base/error.h"
#include "engine/env/settings.h"

namespace nacelle {

Json resolve_configuration(const ConfigurationSources& sources, std::string& where) {
    Json given = Json::object();
    where = "configuration";
    if (!sources.file.empty()) {
        given = load_json(sources.file);
        where = sources.file.string();
        if (!given.is_object())
            throw Error(where, "expected an object, found " + given.dump().substr(0, 40));
    }
    for (const std::string& assignment : sources.assignments) set_path(given, assignment);
    std::string name = sources.env;
    if (name.empty()) {
        Config top(given, where);
        name = top.object("env").text("source", "");
    }
    const std::filesystem::path source = find_environment(name, sources.env_folders);
    std::filesystem::path beside = source;
    beside.replace_extension(".json");
    Json merged = Json::object();
    if (std::filesystem::exists(beside)) {
        merged = load_json(beside);
        if (where == "configuration") where = beside.filename().string();
    }
    merge_json(merged, given);
    merged["env"]["source"] = source.string();
    return merged;
}

}
