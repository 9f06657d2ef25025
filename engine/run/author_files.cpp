#include "engine/run/author_files.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <map>
#include <set>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

// The files' names in a run, each its own: the paths below the author's folder, and of a file elsewhere the bare name, with
// a number where another file has it.
std::vector<fs::path> distinct_names(const fs::path& folder, const std::vector<SourceFile>& files) {
    std::vector<fs::path> names(files.size());
    std::map<fs::path, fs::path> named;
    for (const bool elsewhere : {false, true})
        for (size_t i = 0; i < files.size(); ++i) {
            const fs::path& path = files[i].path;
            const fs::path below = fs::absolute(path).lexically_normal().lexically_relative(folder);
            if ((below.empty() || *below.begin() == "..") != elsewhere) continue;
            const fs::path file = resolved_path(path), usual = elsewhere ? path.filename() : below;
            names[i] = usual;
            for (int n = 2; named.try_emplace(names[i], file).first->second != file; ++n)
                names[i] = usual.parent_path() / (usual.stem().string() + "-" + std::to_string(n) +
                                                  usual.extension().string());
        }
    return names;
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

AuthorFiles author_files(const fs::path& source, std::vector<SourceFile> code, const Json& params) {
    const fs::path folder = source.parent_path();
    AuthorFiles found{
        .files = {}, .places = {}, .hashes = {.tables = Json::object()}, .code = code_hash(code)};
    const size_t first_table = code.size();
    std::vector<ParamEntry> tables = flatten_params(params);
    std::erase_if(tables, [](const ParamEntry& entry) { return !entry.value.is_string(); });
    for (const ParamEntry& table : tables) {
        const fs::path path = folder / table.value.get<std::string>();
        code.push_back({path, read_plain_file(path, most_of_a_table)});
    }
    found.files = std::move(code);
    const std::vector<fs::path> names = distinct_names(folder, found.files);
    for (size_t i = 0; i < names.size(); ++i) {
        SourceFile& file = found.files[i];
        found.places[names[i].string()] = fs::absolute(file.path).lexically_normal();
        file.path = names[i];
        const std::string hash = Hash().add(file.text).hex();
        found.hashes.files[file.path.string()] = hash;
        if (i < first_table) continue;
        const ParamEntry& table = tables[i - first_table];
        found.hashes.tables[table.name] = {
            {"file", file.path.string()},
            {"path", Hash().add(table.value.get<std::string>()).hex()},
            {"data", hash}};
    }
    return found;
}

AuthorFiles author_files(Environment& environment) {
    const EnvSettings& settings = environment.settings();
    return author_files(settings.source, environment.code().files, settings.params);
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
