#include "engine/watch/saved_data.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/npy.h"

#include <algorithm>

namespace nacelle {
namespace {

Json part_of(const Json& whole, const char* key) {
    return whole.is_object() && whole.contains(key) ? whole[key] : Json();
}

std::map<std::string, Json> params_in(const Json& configuration) {
    std::map<std::string, Json> found;
    const Json params = part_of(part_of(configuration, "env"), "params");
    if (params.is_object())
        for (const ParamEntry& entry : flatten_params(params)) found[entry.name] = entry.value;
    return found;
}

// The settings that a running environment cannot change.
std::string only_at_start(const Json& before, const Json& now) {
    std::string names;
    const auto look = [&](const Json& a, const Json& b, const char* key, const char* name) {
        if (part_of(a, key) != part_of(b, key))
            names += (names.empty() ? "" : ", ") + std::string(name);
    };
    const Json env_before = part_of(before, "env"), env_now = part_of(now, "env");
    look(env_before, env_now, "constants", "env.constants");
    look(env_before, env_now, "levels", "env.levels");
    look(env_before, env_now, "policies", "env.policies");
    look(env_before, env_now, "strict", "env.strict");
    look(before, now, "seed", "seed");
    look(before, now, "hooks", "hooks");
    return names;
}

}

std::map<std::string, std::filesystem::path> table_files(const Json& params,
                                                         const std::filesystem::path& source) {
    std::map<std::string, std::filesystem::path> files;
    if (!params.is_object()) return files;
    for (const ParamEntry& entry : flatten_params(params))
        if (entry.value.is_string())
            files[entry.name] =
                (source.parent_path() / entry.value.get<std::string>()).lexically_normal();
    return files;
}

SavedData::SavedData(SettingsFiles settings) : settings_(std::move(settings)) {
    if (settings_.read) known_ = settings_.read();
}

std::vector<SavedData::Taken> SavedData::take(Environment& env) {
    if (!data_.due()) return {};
    std::vector<std::filesystem::path> followed = settings_.files;
    const auto tables = table_files(env.settings().params, env.settings().source);
    for (const auto& [name, file] : tables) followed.push_back(file);
    data_.follow(followed);
    std::vector<Taken> all;
    for (const std::filesystem::path& file : data_.saved()) {
        const bool table = std::any_of(tables.begin(), tables.end(),
                                       [&](const auto& one) { return one.second == file; });
        try {
            all.push_back(table ? take_table(env, file) : take_settings(env, file));
        } catch (const Error& wrong) {
            all.push_back({.text = std::string(wrong.what()) + "\n  " + file.filename().string() +
                                   " was not taken; what was read before keeps running.",
                           .wrong = true});
        }
    }
    return all;
}

// What was drawn from the old table, such as a row's number, need not fit the new one: the episodes begin anew.
SavedData::Taken SavedData::take_table(Environment& env, const std::filesystem::path& file) {
    const NpyArray data = parse_npy(read_plain_file(file, most_of_a_table), file.string());
    for (const auto& [name, path] : table_files(env.settings().params, env.settings().source))
        if (path == file) env.set_table(name, data, file.string());
    return {.text = file.filename().string() + " was read again; all episodes begin anew.",
            .restarts = true};
}

SavedData::Taken SavedData::take_settings(Environment& env, const std::filesystem::path& file) {
    const Json now = settings_.read();
    const auto before = params_in(known_), wanted = params_in(now);
    const ParamValues defaults(env.schema(), env.stepwise().defaults(), file.string());
    std::map<std::string, Json> changes;
    for (const auto& [name, value] : wanted)
        if (const auto was = before.find(name); was == before.end() || was->second != value)
            changes[name] = value;
    for (const auto& [name, value] : before)
        if (!wanted.contains(name)) changes[name] = defaults.get(name);
    std::string names, later = only_at_start(known_, now);
    ParamValues tried = defaults;    // all of them, or none
    for (const auto& [name, value] : changes)
        if (tried.field(name).kind != Kind::table) tried.set(name, value);
    for (const auto& [name, value] : changes) {
        if (tried.field(name).kind == Kind::table) {
            later += (later.empty() ? "" : ", ") + ("env.params." + name);
            continue;
        }
        env.set_param(name, value);
        names += (names.empty() ? "" : ", ") + name + " = " + json_text(value);
    }
    env.forget_given_defaults();
    known_ = now;
    std::string text = file.filename().string() +
                       " was read again: " + (names.empty() ? "no parameter has changed" : names);
    if (!later.empty()) text += "; " + later + ": begin 'watch' anew for it";
    return {.text = text + "."};
}

}
