#include "engine/run/written_policies.h"

#include "engine/run/run_summary.h"

namespace nacelle {

bool is_written_by_run(const std::filesystem::path& file) {
    return file.filename() == "config.json" && is_run(file.parent_path());
}

Json said_of_each(Json over, const Json& own) {
    const Json::json_pointer all("/policies/default"), policies("/policies");
    if (!over.contains(all) || !over[all].is_object() || !own.contains(policies) ||
        !own[policies].is_object())
        return over;
    const Json given = over[all];
    for (const auto& [name, settings] : own[policies].items()) {
        if (name == "default" || !settings.is_object()) continue;
        Json its = Json::object();
        for (const auto& [key, value] : given.items())
            if (settings.contains(key)) its[key] = value;
        if (const Json said = over[policies].value(name, Json::object()); said.is_object())
            merge_json(its, said);
        else continue;
        if (!its.empty()) over["policies"][name] = std::move(its);
    }
    return over;
}

}
