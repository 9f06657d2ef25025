#include "engine/run/author_files.h"

#include "engine/base/files.h"
#include "engine/base/hash.h"

namespace nacelle {
namespace fs = std::filesystem;
namespace {

fs::path name_in(const fs::path& folder, const fs::path& file) {
    const fs::path below = fs::absolute(file).lexically_normal().lexically_relative(folder);
    return below.empty() || *below.begin() == ".." ? file.filename() : below;
}

}

std::vector<SourceFile> author_files(Environment& environment) {
    const EnvSettings& settings = environment.settings();
    const fs::path folder = settings.source.parent_path();
    std::vector<SourceFile> files = environment.code().files;
    for (SourceFile& file : files) file.path = name_in(folder, file.path);
    for (const ParamEntry& entry : flatten_params(settings.params))
        if (entry.value.is_string()) {
            const fs::path path = folder / entry.value.get<std::string>();
            files.push_back({name_in(folder, path), read_file(path)});
        }
    return files;
}

Json hashes_of(const std::vector<SourceFile>& files) {
    Json hashes = Json::object();
    for (const SourceFile& file : files) hashes[file.path.string()] = Hash().add(file.text).hex();
    return hashes;
}

std::string first_difference(const Json& then, const Json& now) {
    for (const auto& [name, hash] : then.items())
        if (!now.contains(name) || now[name] != hash) return name;
    for (const auto& [name, hash] : now.items())
        if (!then.contains(name)) return name;
    return {};
}

}
