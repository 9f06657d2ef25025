#include "tools/run_differences.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/run/directory.h"
#include "tools/line_diff.h"

#include <set>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

// Every value that is no object, by its path: "env.params.gravity".
void flatten_settings(const Json& json, const std::string& path,
                      std::map<std::string, std::string>& settings) {
    if (!json.is_object()) {
        settings[path] = json_text(json);
        return;
    }
    for (const auto& [key, value] : json.items())
        flatten_settings(value, path.empty() ? key : path + "." + key, settings);
}

// The last version of the author's files by their names.
std::map<std::string, std::string> last_source(const fs::path& run) {
    std::map<std::string, std::string> files;
    const std::vector<SourceVersion> versions = source_versions(run);
    if (versions.empty()) return files;
    const fs::path folder = versions.back().folder;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            files[entry.path().lexically_relative(folder).string()] = read_plain_file(entry.path());
    return files;
}

bool is_text(const std::string& text) {
    return text.find('\0') == text.npos && is_valid_utf8(text);
}

SourceDifference difference_of(const std::string& file, const std::string& before,
                               const std::string& after) {
    if (!is_text(before) || !is_text(after)) return {file, "differs; it is no text", {}};
    std::optional<std::vector<std::string>> lines = line_diff(before, after);
    if (!lines) return {file, "differs in too many lines to be compared", {}};
    // Line ends alone.
    if (lines->empty()) return {file, "differs in its last line's end", {}};
    return {file, {}, std::move(*lines)};
}

}

std::vector<SettingDifference> setting_differences(const std::vector<RunGroup>& groups,
                                                   const std::vector<Json>& configurations) {
    std::vector<std::map<std::string, std::string>> all;
    std::set<std::string> paths;
    for (size_t i = 0; i < groups.size(); ++i) {
        flatten_settings(configurations[i], "", all.emplace_back());
        if (groups[i].runs.size() > 1)
            all.back()["seed"] = std::to_string(groups[i].runs.size()) + " seeds";
        for (const auto& [path, value] : all.back()) paths.insert(path);
    }
    std::vector<SettingDifference> differences;
    for (const std::string& path : paths) {
        SettingDifference one{path, {}};
        for (const auto& settings : all) {
            const auto found = settings.find(path);
            one.values.push_back(found == settings.end() ? "" : found->second);
        }
        if (std::set<std::string>(one.values.begin(), one.values.end()).size() > 1)
            differences.push_back(std::move(one));
    }
    return differences;
}

std::vector<SourceDifference> source_differences(const RunGroup& before, const RunGroup& after) {
    const auto a = last_source(before.runs.front()), b = last_source(after.runs.front());
    std::vector<SourceDifference> differences;
    for (const auto& [file, text] : a) {
        const auto found = b.find(file);
        if (found == b.end()) differences.push_back({file, "is only in " + before.name, {}});
        else if (found->second != text)
            differences.push_back(difference_of(file, text, found->second));
    }
    for (const auto& [file, text] : b)
        if (!a.contains(file)) differences.push_back({file, "is only in " + after.name, {}});
    return differences;
}

}
