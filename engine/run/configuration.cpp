#include "engine/run/configuration.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/config/describe.h"
#include "engine/env/find_environment.h"
#include "engine/run/layers.h"
#include "engine/run/model_files.h"

#include <algorithm>
#include <iterator>

namespace nacelle {
namespace {

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
    // The command line may name a pipe.
    Json settings = parse_json(read_file(file), file.string());
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
    if (!sources.env.ends_with(".json")) require_no_stranger(file);
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
    if (!is_path(source) || std::filesystem::path(source).is_absolute()) return source;
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

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code missing;
    return std::filesystem::equivalent(a, b, missing);
}

// Throws if the settings next to an environment are open to other users in a way in which the environment is closed.
void require_own_settings(const std::filesystem::path& settings,
                          const std::filesystem::path& environment) {
    if (!is_as_open(settings, environment))
        throw Error(settings.string(),
                    stranger_in(settings).reason + ", so that its settings are not taken",
                    "--config " + shell_word(settings.string()) + " takes them");
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
    const Json* const run = is_written_by_run(named.file)     ? &named.json
                            : is_written_by_run(sources.file) ? &from_file
                                                              : nullptr;
    std::filesystem::path beside = source;
    beside.replace_extension(".json");
    Json merged = Json::object();
    std::error_code ignored;
    const bool has_own = !run && std::filesystem::exists(beside, ignored);
    if (has_own && beside != named.file && !same_file(beside, sources.file))
        require_own_settings(beside, source);
    if (has_own) {
        merged = load_object(beside);
        if (sources.file.empty() && named.file.empty()) where = beside.filename().string();
    }
    Origins origins(where);
    if (has_own) origins.add_file(beside.filename().string(), merged);
    if (!named.file.empty()) {
        origins.add_file(named.file.string(), named.json);
        drop_settings_of_another_learner(merged, named.json);
        drop_settings_of_other_policies(merged, named.json);
        lay_over(merged, named.json);
    }
    if (!sources.file.empty()) origins.add_file(where, from_file);
    const Json over_run = run == &from_file ? said_by(sources.assignments) : given,
               each = run ? said_of_each(over_run, *run) : Json::object();
    origins.add_file("policies.default", each);
    for (const std::string& assignment : sources.assignments) origins.add_assignment(assignment);
    drop_settings_of_another_learner(merged, given);
    drop_settings_of_other_policies(merged, given);
    lay_over(merged, given);
    if (run) {
        lay_over(merged, each);
        lay_over(merged, over_run);    // what is said of one policy again, above
    }
    if (const auto env = merged.find("env"); env != merged.end() && !env->is_object())
        throw origins.placed(Error(where, "env: expected an object, found " + describe(*env),
                                   "--set env.count=512 sets one value of it"));
    merged["env"]["source"] = source.string();
    std::vector<std::string> said = model_assignments(merged, sources.models);
    for (const std::string& assignment : said) set_path(merged, assignment);
    std::ranges::copy(sources.assignments, std::back_inserter(said));
    check_model_files(merged, run == &named.json ? named.file.string() : where,
                      {.said = said_by(said),
                       .plugin_folders = sources.plugin_folders,
                       .of_run = run != nullptr});
    return {std::move(merged), std::move(where), std::move(origins),
            named.file.empty() ? source : named.file};
}

ResolvedConfiguration changed_configuration(Json own, std::string where,
                                            const std::vector<std::string>& assignments) {
    Origins origins(where);
    origins.add_file(where, own);
    const Json said = said_by(assignments);
    const Json each = said_of_each(said, own);
    origins.add_file("policies.default", each);
    for (const std::string& assignment : assignments) {
        set_path(own, assignment);
        origins.add_assignment(assignment);
    }
    lay_over(own, each);
    lay_over(own, said);    // what is said of one policy again, above
    return {std::move(own), std::move(where), std::move(origins)};
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
