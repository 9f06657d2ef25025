#include "engine/run/model_files.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/other_writer.h"
#include "engine/base/suggest.h"
#include "engine/base/text.h"

#include <algorithm>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

struct ModelFile {
    std::string policy, kind;
    fs::path path;
};

constexpr size_t most_of_a_model = size_t(16) << 30;

Json model_in(const Json& settings, const std::string& policy) {
    const Json::json_pointer place = Json::json_pointer("/policies") / policy / "model";
    return settings.contains(place) && settings[place].is_object() ? settings[place]
                                                                   : Json::object();
}

std::vector<ModelFile> model_files(const Json& settings) {
    std::vector<ModelFile> files;
    const auto policies = settings.find("policies");
    if (policies == settings.end() || !policies->is_object()) return files;
    for (const auto& [name, ignored] : policies->items())
        for (const char* const kind : {"script", "package"})
            if (const Json model = model_in(settings, name);
                model.contains(kind) && model[kind].is_string())
                files.push_back({name, kind, model[kind].get<std::string>()});
    return files;
}

bool is_named(const ModelFile& file, const Json& said) {
    for (const std::string& policy : {file.policy, std::string("default")})
        if (const Json model = model_in(said, policy);
            model.value(file.kind, Json()) == file.path.string())
            return true;
    return false;
}

std::string option_for(const ModelFile& file, bool several) {
    return "--model " + (several ? file.policy + "=" : "") + shell_word(file.path.string());
}

// Throws where the file is not to be loaded without its name.
void require_loadable(const ModelFile& file, const std::string& where, const ModelRules& rules,
                      bool several) {
    const std::string remedy =
        rules.of_run ? option_for(file, several) + " loads it" : "load it from a folder of yours";
    const bool in_plugins = std::ranges::any_of(rules.plugin_folders, [&](const fs::path& folder) {
        return lies_below(file.path, folder);
    });
    if (rules.of_run && !in_plugins)
        throw Error(where + ": policies." + file.policy + ".model",
                    "is code in the file " + file.path.string() +
                        ", which a run's folder alone does not load",
                    remedy);
    if (const std::string other = other_writer(file.path); !other.empty())
        throw Error(file.path.string(), other + ", so that its code is not loaded", remedy);
}

}

void check_model_files(Json& settings, const std::string& where, const ModelRules& rules) {
    const std::vector<ModelFile> files = model_files(settings);
    for (const ModelFile& file : files) {
        std::error_code missing;
        if (!fs::is_regular_file(file.path, missing)) continue;    // the learner says so
        const bool named = is_named(file, rules.said);
        if (!named) require_loadable(file, where, rules, files.size() > 1);
        const std::string hash = Hash().add(read_plain_file(file.path, most_of_a_model)).hex();
        Json& model = settings["policies"][file.policy]["model"];
        const std::string noted = model.value("hash", hash);
        if (noted != hash && !named)
            throw Error(file.path.string(),
                        "is another file than the run had: its hash is " + hash + ", and was " +
                            noted,
                        "put it back, or " + option_for(file, files.size() > 1) + " takes it");
        model["hash"] = hash;
    }
}

std::vector<std::string> model_assignments(const Json& settings,
                                           const std::vector<std::string>& words) {
    const std::vector<ModelFile> files = model_files(settings);
    std::vector<std::string> names, assignments;
    for (const ModelFile& file : files) names.push_back(file.policy);
    for (const std::string& word : words) {
        const size_t at = word.find('=');
        const std::string policy = at == word.npos ? "" : word.substr(0, at);
        const auto meant = std::ranges::find(names, policy);
        const bool only = meant == names.end() && files.size() == 1;
        if (meant == names.end() && !only)
            throw Error("--model " + word,
                        files.empty() ? "no policy has a model in a file"
                                      : "does not say which policy it is for",
                        files.empty() ? "leave it out" : "POLICY=FILE; " + suggest(policy, names));
        const ModelFile& file = only ? files.front() : files[size_t(meant - names.begin())];
        Json model;
        model[file.kind] = only ? word : word.substr(at + 1);
        assignments.push_back("policies." + file.policy + ".model=" + json_text(model));
    }
    return assignments;
}

}
