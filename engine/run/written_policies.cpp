#include "engine/run/written_policies.h"

#include "engine/run/run_summary.h"

#include <algorithm>

namespace nacelle {
namespace {

const std::string all = "policies.default";

// The settings of policies.default that an assignment gives, as it gives them: "opponents.pool=8".
std::vector<std::string> given_to_all(const std::string& assignment) {
    if (assignment.starts_with(all + ".")) return {assignment.substr(all.size() + 1)};
    std::vector<std::string> given;
    if (!assignment.starts_with(all + "=")) return given;
    Json whole;
    set_path(whole, assignment);
    const Json& settings = whole["policies"]["default"];
    if (!settings.is_object()) return given;
    for (const auto& [key, value] : settings.items()) given.push_back(key + "=" + json_text(value));
    return given;
}

// The policies of a run's own configuration that have the setting.
std::vector<std::string> policies_with(const std::string& key, const Json& own) {
    std::vector<std::string> names;
    const auto policies = own.find("policies");
    if (policies == own.end() || !policies->is_object()) return names;
    for (const auto& [name, settings] : policies->items())
        if (name != "default" && settings.is_object() && settings.contains(key))
            names.push_back(name);
    return names;
}

std::string first_of(const std::string& path) { return path.substr(0, path.find_first_of(".=")); }

}

bool is_written_by_run(const std::filesystem::path& file) {
    return file.filename() == "config.json" && is_run(file.parent_path());
}

std::vector<std::string> said_of_each(const std::vector<std::string>& assignments,
                                      const Json& own) {
    const auto is_said = [&](const std::string& policy, const std::string& key) {
        const std::string path = "policies." + policy;
        return std::ranges::any_of(assignments, [&](const std::string& one) {
            return one.starts_with(path + "=") ||
                   (one.starts_with(path + ".") && first_of(one.substr(path.size() + 1)) == key);
        });
    };
    std::vector<std::string> each;
    for (const std::string& assignment : assignments) {
        each.push_back(assignment);
        for (const std::string& given : given_to_all(assignment))
            for (const std::string& policy : policies_with(first_of(given), own))
                if (!is_said(policy, first_of(given)))
                    each.push_back("policies." + policy + "." + given);
    }
    return each;
}

Json said_of_each(Json over, const Json& own) {
    const Json::json_pointer settings("/policies/default");
    if (!over.is_object() || !over.contains(settings) || !over[settings].is_object()) return over;
    const Json given = over[settings];
    for (const auto& [key, value] : given.items())
        for (const std::string& policy : policies_with(key, own)) {
            Json& its = over["policies"][policy];
            if (its.is_null() || (its.is_object() && !its.contains(key))) its[key] = value;
        }
    return over;
}

}
