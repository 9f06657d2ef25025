#include "engine/run/configuration.h"

#include "engine/base/error.h"
#include "engine/config/describe.h"
#include "engine/env/find_environment.h"
#include "engine/env/param_values.h"
#include "engine/run/written_policies.h"

#include <algorithm>

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

Json learner_named_in(const Json& configuration) {
    const auto learner = configuration.find("learner");
    if (learner == configuration.end() || !learner->is_object()) return nullptr;
    return learner->value("name", Json());
}

// Whether settings for the learner `usual` are for `wanted`, too: for itself, and for one that is named after it, as
// `torch_ppo` is after `ppo`: the same algorithm by other means.
bool takes_settings_of(const Json& wanted, const Json& usual) {
    if (!wanted.is_string() || !usual.is_string()) return wanted == usual;
    const std::string name = wanted.get<std::string>(), other = usual.get<std::string>();
    return name == other || name.ends_with("_" + other);
}

// Settings for one learner do not apply to another, which would refuse them.
void drop_settings_of_another_learner(Json& recommended, const Json& given) {
    const Json usual = learner_named_in(recommended), wanted = learner_named_in(given);
    if (usual.is_null() || wanted.is_null() || takes_settings_of(wanted, usual)) return;
    recommended.erase("learner");
    recommended.erase("policies");
}

// Nor do settings for policies that there are no longer, since other policies are given the agents.
void drop_settings_of_other_policies(Json& recommended, const Json& given) {
    const auto env = given.find("env");
    const auto known = recommended.find("policies");
    if (env == given.end() || !env->is_object() || known == recommended.end()) return;
    const auto now = env->find("policies");
    if (now == env->end() || !now->is_object() || !known->is_object()) return;
    Json kept = Json::object();
    for (const auto& [name, settings] : known->items())
        if (name == "default" || now->contains(name)) kept[name] = settings;
    *known = std::move(kept);
}

Json load_object(const std::filesystem::path& file) {
    Json settings = load_json(file);
    if (!settings.is_object())
        throw Error(file.string(), "expected an object, found " + describe(settings));
    return settings;
}

std::string source_in(const Json& settings, const std::string& where) {
    Config top(settings, where);
    return top.object("env").text("source", "");
}

// Settings that are named in place of an environment, as tag_duel.json, and say which one they are for.
struct NamedSettings {
    std::filesystem::path file;    // empty: an environment is named
    Json json;
    std::string environment;
};

NamedSettings named_settings(const ConfigurationSources& sources) {
    const std::vector<std::filesystem::path> files =
        settings_of_name(sources.env, sources.env_folders);
    if (files.empty()) return {{}, {}, sources.env};
    if (sources.found && !sources.env.ends_with(".json")) {
        std::vector<std::filesystem::path> all = files;
        for (auto& hidden : files_of_name(sources.env, sources.env_folders))
            all.push_back(std::move(hidden));
        sources.found(all);
    }
    const std::filesystem::path& file = files.front();
    NamedSettings named{file, load_object(file), ""};
    named.environment = source_in(named.json, file.string());
    if (!named.environment.empty()) return named;
    std::filesystem::path beside = file;    // pond.json, beside pond.cu
    beside.replace_extension(".cu");
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored))
        throw Error(
            file.string(), "does not say which environment its settings are for",
            "\"env\": {\"source\": NAME} in it, or NAME and this file as its configuration");
    named.environment = beside.string();
    return named;
}

// A relative path in settings begins beside them where that file is there, else in the working directory.
std::string seen_from(const std::filesystem::path& settings, const std::string& source) {
    const bool is_path = source.find('/') != source.npos || source.ends_with(".cu");
    if (!is_path || std::filesystem::path(source).is_absolute()) return source;
    const std::filesystem::path beside = settings.parent_path() / source;
    std::error_code ignored;
    return std::filesystem::exists(beside, ignored) ? beside.string() : source;
}

// The environment that settings name.
std::filesystem::path source_of_settings(const std::string& source,
                                         const std::filesystem::path& settings,
                                         const std::string& where,
                                         const std::vector<std::filesystem::path>& folders) {
    try {
        return find_environment(seen_from(settings, source), folders);
    } catch (const Error& error) {
        if (source.empty()) throw;
        const std::string at = where + ": env.source";
        const bool is_settings =
            source.ends_with(".json") || !settings_of_name(source, folders).empty();
        if (is_settings) throw Error(at, source + " names settings", "name an environment");
        throw Error(at + ": " + error.where(), error.reason(), error.instead());
    }
}

// The environment that is named, or that the given settings name.
std::filesystem::path find_source(const NamedSettings& named, const Json& given,
                                  const std::string& where, const ConfigurationSources& sources) {
    std::vector<std::filesystem::path> folders = sources.env_folders;
    if (const auto beside = named.file.parent_path();
        !beside.empty() && std::ranges::find(folders, beside) == folders.end())
        folders.insert(folders.begin(), beside);
    std::string name = named.environment;
    std::filesystem::path source;
    if (name.empty()) {
        name = source_in(given, where);
        source = source_of_settings(name, sources.file, where, folders);
    } else if (!named.file.empty())
        source = source_of_settings(name, named.file, named.file.string(), folders);
    else source = find_environment(name, folders, true);
    const std::vector<std::filesystem::path> files = files_of_name(name, folders);
    if (sources.found && !files.empty()) sources.found(files);
    return source;
}

// Says so where a file that lies over an environment was written for another one.
void note_other_environment(const Json& file, const std::string& where,
                            const std::filesystem::path& source,
                            const ConfigurationSources& sources) {
    const Json::json_pointer said("/env/source");
    if (!file.contains(said) || !file[said].is_string()) return;
    const std::filesystem::path other = file[said].get<std::string>();
    if (!other.empty() && other.stem() != source.stem())
        sources.note(where + ": its settings are for " + other.stem().string() + ", and " +
                     source.stem().string() + " is taken");
}

// Lays over the settings what assignments, over a run's own configuration, say of all its policies.
void say_of_each(Json& settings, const std::vector<std::string>& assignments, const Json& own,
                 Origins& origins) {
    Json said = Json::object();
    for (const std::string& assignment : assignments) set_path(said, assignment);
    const Json::json_pointer all("/policies/default"), policies("/policies");
    if (!said.contains(all)) return;
    Json of_each;
    of_each["policies"] = said_of_each(said, own)[policies];
    of_each["policies"].erase("default");
    Path path;
    lay_over(settings, of_each, path);
    origins.add_file("--set policies.default", std::move(of_each));
}

}

ResolvedConfiguration resolve_configuration(const ConfigurationSources& sources) {
    const NamedSettings named = named_settings(sources);
    Json given = Json::object(), from_file = Json::object();
    std::string where = named.file.empty() ? "configuration" : named.file.string();
    if (!sources.file.empty()) {
        given = from_file = load_object(sources.file);
        where = sources.file.string();
    }
    for (const std::string& assignment : sources.assignments) {
        if (!sources.env.empty() && assignment.starts_with("env.source="))
            throw Error("--set " + assignment, "the environment is named already: " + sources.env,
                        "one of both");
        set_path(given, assignment);
    }
    const std::filesystem::path source = find_source(named, given, where, sources);
    if (!sources.env.empty() && sources.note)
        note_other_environment(from_file, where, source, sources);
    // A run's own configuration has all that lay beside the source then.
    const bool names_run = is_written_by_run(named.file),
               file_of_run = is_written_by_run(sources.file);
    std::filesystem::path beside = source;
    beside.replace_extension(".json");
    Json merged = Json::object();
    std::error_code ignored;
    const bool has_own = !names_run && !file_of_run && std::filesystem::exists(beside, ignored);
    if (has_own) {
        merged = load_json(beside);
        if (sources.file.empty() && named.file.empty()) where = beside.filename().string();
    }
    Origins origins(where);
    if (has_own) origins.add_file(beside.filename().string(), merged);
    Path path;
    if (!named.file.empty()) {
        origins.add_file(named.file.string(), named.json);
        drop_settings_of_another_learner(merged, named.json);
        drop_settings_of_other_policies(merged, named.json);
        lay_over(merged, named.json, path);
    }
    if (!sources.file.empty()) origins.add_file(where, from_file);
    for (const std::string& assignment : sources.assignments) origins.add_assignment(assignment);
    if (names_run) given = said_of_each(std::move(given), named.json);
    else if (file_of_run) say_of_each(given, sources.assignments, from_file, origins);
    drop_settings_of_another_learner(merged, given);
    drop_settings_of_other_policies(merged, given);
    lay_over(merged, given, path);
    if (const auto env = merged.find("env"); env != merged.end() && !env->is_object())
        throw origins.placed(Error(where, "env: expected an object, found " + describe(*env),
                                   "--set env.count=512 sets one value of it"));
    merged["env"]["source"] = source.string();
    return {std::move(merged), std::move(where), std::move(origins),
            named.file.empty() ? source : named.file};
}

ResolvedConfiguration changed_configuration(Json own, std::string where,
                                            const std::vector<std::string>& assignments) {
    Origins origins(where);
    origins.add_file(where, own);
    Json changed = own;
    for (const std::string& assignment : assignments) {
        set_path(changed, assignment);
        origins.add_assignment(assignment);
    }
    say_of_each(changed, assignments, own, origins);
    return {std::move(changed), std::move(where), std::move(origins)};
}

void with_configuration(const ConfigurationSources& sources, const ConfigurationUse& body) {
    with_configuration(resolve_configuration(sources), body);
}

void with_configuration(const ResolvedConfiguration& configuration, const ConfigurationUse& body) {
    try {
        body(configuration.json, configuration.where);
    } catch (const Error& error) {
        throw configuration.origins.placed(error);
    }
}

}
