#include "engine/run/layers.h"

#include "engine/env/param_values.h"
#include "engine/run/run_summary.h"

namespace nacelle {
namespace {

using Path = std::vector<std::string>;

// Whether the object at the path is a single value: a setting of a learner, which may be a schedule, a distribution of
// a parameter, or who decides for which agents. Such objects are replaced and not merged.
bool is_one_value(const Path& path, const Json& base, const Json& over) {
    const size_t depth = path.size();
    if (depth == 2 && path[0] == "learner") return true;
    if (depth == 4 && path[0] == "policies" && path[2] == "learner") return true;
    if (depth == 2 && path[0] == "env" && path[1] == "policies") return true;
    const bool parameter = depth > 2 && path[0] == "env" && path[1] == "params";
    return parameter && (is_distribution(base) || is_distribution(over));
}

void lay_over(Json& base, const Json& over, Path& path) {
    if (!base.is_object() || !over.is_object() || is_one_value(path, base, over)) {
        base = over;
        return;
    }
    for (const auto& item : over.items()) {
        path.push_back(item.key());
        lay_over(base[item.key()], item.value(), path);
        path.pop_back();
    }
}

}

void lay_over(Json& base, const Json& over) {
    Path path;
    lay_over(base, over, path);
}

Json said_by(const std::vector<std::string>& assignments) {
    Json said = Json::object();
    for (const std::string& assignment : assignments) set_path(said, assignment);
    return said;
}

bool is_written_by_run(const std::filesystem::path& file) {
    return file.filename() == "config.json" && is_run(file.parent_path());
}

Json said_of_each(const Json& over, const Json& own) {
    const Json::json_pointer all("/policies/default"), policies("/policies");
    Json each = Json::object();
    if (!over.contains(all) || !over[all].is_object() || !own.contains(policies)) return each;
    for (const auto& [name, settings] : own[policies].items())
        for (const auto& [key, value] : over[all].items())
            if (name != "default" && settings.is_object() && settings.contains(key))
                each["policies"][name][key] = value;
    return each;
}

}
