#include "engine/run/author_files.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <set>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

fs::path name_in(const fs::path& folder, const fs::path& file) {
    const fs::path below = fs::absolute(file).lexically_normal().lexically_relative(folder);
    return below.empty() || *below.begin() == ".." ? file.filename() : below;
}

// A space stands for any spaces and line breaks, but for a line break beside a directive of the preprocessor.
std::string without_spaces(std::string_view text) {
    std::string kept;
    bool in_directive = false;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find_first_not_of(" \t\r\n\f\v", at), text.size());
        if (end == at) {
            in_directive |= text[at] == '#' && (kept.empty() || kept.back() == '\n');
            kept += text[at++];
            continue;
        }
        const bool ends_line = text.substr(at, end - at).find('\n') != text.npos;
        const bool kept_apart = ends_line && (in_directive || text.substr(end).starts_with('#'));
        if (ends_line && !kept.ends_with('\\')) in_directive = false;
        kept += kept_apart ? '\n' : ' ';
        at = end;
    }
    return kept;
}

std::string code_hash(const std::vector<SourceFile>& code) {
    Hash hash;
    for (const SourceFile& file : code) hash.add(without_spaces(mask_comments(file.text).plain));
    return hash.hex();
}

}

AuthorFiles author_files(Environment& environment) {
    const EnvSettings& settings = environment.settings();
    const fs::path folder = settings.source.parent_path();
    AuthorFiles found{.files = environment.code().files,
                      .hashes = {.tables = Json::object()},
                      .code = code_hash(environment.code().files)};
    for (SourceFile& file : found.files) file.path = name_in(folder, file.path);
    for (const ParamEntry& entry : flatten_params(settings.params)) {
        if (!entry.value.is_string()) continue;
        const std::string path = entry.value.get<std::string>();
        const SourceFile& table = found.files.emplace_back(SourceFile{
            name_in(folder, folder / path), read_plain_file(folder / path, most_of_a_table)});
        found.hashes.tables[entry.name] = {{"file", table.path.string()},
                                           {"path", Hash().add(path).hex()},
                                           {"data", Hash().add(table.text).hex()}};
    }
    for (const SourceFile& file : found.files)
        found.hashes.files[file.path.string()] = Hash().add(file.text).hex();
    return found;
}

std::string first_difference(const FileHashes& then, const FileHashes& now) {
    std::set<std::string> tables;
    for (const auto& [parameter, table] : now.tables.items()) {
        const std::string file = table["file"];
        tables.insert(file);
        const Json before = then.tables.is_object() ? then.tables.value(parameter, Json()) : Json();
        const bool differs = then.tables.is_object()
                                 ? before.is_object() &&
                                       before.value("path", Json()) == table["path"] &&
                                       before.value("data", Json()) != table["data"]
                                 : then.files.contains(file) && then.files[file] != now.files[file];
        if (differs) return file;
    }
    for (const auto& [name, hash] : now.files.items())
        if (!tables.contains(name) && (!then.files.contains(name) || then.files[name] != hash))
            return name;
    return {};
}

}
