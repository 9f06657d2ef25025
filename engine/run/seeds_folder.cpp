#include "engine/run/seeds_folder.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/text.h"

#include <charconv>
#include <map>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view seed_start = "seed-";

std::optional<uint64_t> seed_in(const std::string& name) {
    if (!name.starts_with(seed_start)) return {};
    uint64_t seed = 0;
    std::from_chars(name.data() + seed_start.size(), name.data() + name.size(), seed);
    if (name != std::string(seed_start) + std::to_string(seed)) return {};
    return seed;
}

}

fs::path SeedsFolder::run_of(uint64_t seed) const {
    return path / (std::string(seed_start) + std::to_string(seed));
}

Json SeedsFolder::configuration_of(uint64_t seed) const {
    Json its = configuration;
    its["seed"] = seed;
    return its;
}

void require_no_seeds(const fs::path& path) {
    require_no_run(path);
    if (holds_seeds(path))
        throw Error(path.string(), "holds the runs of several seeds already",
                    "'nacelle resume " + shell_word(path.string()) + "' goes on with them");
}

void write_seeds(const SeedsFolder& folder) {
    const Json json = {{"first", folder.first},
                       {"count", folder.count},
                       {"where", folder.where},
                       {"configuration", folder.configuration}};
    write_file(seeds_file_of(folder.path), json_text(json, 2) + "\n");
}

void remove_seeds(const SeedsFolder& folder) {
    std::error_code ignored;
    fs::remove(seeds_file_of(folder.path), ignored);
}

SeedsFolder read_seeds(const fs::path& path) {
    const fs::path file = seeds_file_of(path);
    const Json json = load_json(file);
    if (!json.is_object()) throw Error(file.string(), "is damaged: it is no object");
    Config top(json, file.string());
    SeedsFolder folder{.path = path,
                       .first = uint64_t(top.integer("first", 1, 0, largest_seed)),
                       .count = uint64_t(top.integer("count", 1, 1, int64_t(most_seeds))),
                       .configuration = top.object("configuration").json(),
                       .where = top.text("where", file.string())};
    top.finish("the seeds");
    if (folder.first + folder.count - 1 > uint64_t(largest_seed))
        throw Error(file.string(), "is damaged: its last seed is above 2^53");
    return folder;
}

std::vector<fs::path> seed_runs(const fs::path& path) {
    std::map<uint64_t, fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path, ignored))
        if (const auto seed = seed_in(entry.path().filename().string()))
            if (holds_run(entry.path())) found[*seed] = entry.path();
    std::vector<fs::path> runs;
    for (const auto& [seed, run] : found) runs.push_back(run);
    return runs;
}

}
