#include "tools/run_differences.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"
#include "engine/run/directory.h"
#include "tools/line_diff.h"

#include <algorithm>
#include <set>

namespace nacelle::tools {
namespace fs = std::filesystem;
namespace {

// A value in each configuration; null where it is not there.
using Values = std::vector<const Json*>;

bool all_same(const Values& values) {
    return std::all_of(values.begin(), values.end(), [&](const Json* value) {
        return value && values.front() && *value == *values.front();
    });
}

// Goes into objects where all have one, or lack it: a schedule in place of a number is one value.
void add_differences(const Values& values, const std::string& path,
                     std::vector<SettingDifference>& differences) {
    if (all_same(values)) return;
    const bool objects = std::all_of(values.begin(), values.end(), [](const Json* value) {
        return !value || value->is_object();
    });
    if (!objects) {
        SettingDifference one{path, {}};
        for (const Json* const value : values)
            one.values.push_back(value ? std::optional<Json>(*value) : std::nullopt);
        differences.push_back(std::move(one));
        return;
    }
    std::set<std::string> keys;
    for (const Json* const value : values)
        if (value)
            for (const auto& [key, inner] : value->items()) keys.insert(key);
    for (const std::string& key : keys) {
        Values inner;
        for (const Json* const value : values) {
            const bool there = value && value->contains(key);
            inner.push_back(there ? &(*value)[key] : nullptr);
        }
        add_differences(inner, path.empty() ? key : path + "." + key, differences);
    }
}

// The last version of the author's files by their names.
std::map<std::string, std::string> last_source(const fs::path& run) {
    std::map<std::string, std::string> files;
    const std::vector<SourceVersion> versions = source_versions(run);
    if (versions.empty()) return files;
    const fs::path folder = versions.back().folder;
    size_t left = most_of_a_plain_file;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file() || !lies_below(entry.path(), run)) continue;
        if (entry.file_size() > left)
            throw Error(folder.string(), "has files of more than 64 MiB, which are not compared");
        std::string& text = files[entry.path().lexically_relative(folder).string()];
        text = read_plain_file(entry.path(), left);
        left -= text.size();
    }
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
                                                   std::vector<Json> configurations) {
    Values values;
    for (size_t i = 0; i < groups.size(); ++i) {
        const size_t runs = groups[i].runs.size();
        if (runs > 1 && configurations[i].is_object())
            configurations[i]["seed"] = std::to_string(runs) + " seeds";
        values.push_back(&configurations[i]);
    }
    std::vector<SettingDifference> differences;
    add_differences(values, "", differences);
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
