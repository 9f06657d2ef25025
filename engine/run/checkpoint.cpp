#include "engine/run/checkpoint.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;
constexpr int format = 1;

std::string hash_of(std::string_view bytes) { return Hash().add(bytes).hex(); }

std::string stem_of(uint64_t steps) {
    char text[40];
    std::snprintf(text, sizeof text, "step-%015llu", static_cast<unsigned long long>(steps));
    return text;
}

std::string hex(uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

Json score_json(const std::optional<CheckpointRecord::Score>& score) {
    if (!score) return nullptr;
    return {{"return", score->mean_return}, {"steps", score->steps}};
}
std::optional<CheckpointRecord::Score> read_score(const Json& json) {
    if (json.is_null()) return {};
    return CheckpointRecord::Score{json.at("return").get<double>(),
                                   json.at("steps").get<uint64_t>()};
}

Json json_of(const CheckpointRecord& record) {
    return {{"format", format},
            {"environment", record.environment},
            {"learner", record.learner},
            {"layout", hex(record.layout)},
            {"spaces", hex(record.spaces)},
            {"files", record.files},
            {"iteration", record.iteration},
            {"steps", record.steps},
            {"tick", record.tick},
            {"evaluation", score_json(record.evaluation)},
            {"best", score_json(record.best)}};
}
CheckpointRecord record_of(const Json& json) {
    const auto number = [&](const char* key) {
        return std::stoull(json.at(key).get<std::string>(), nullptr, 16);
    };
    return {.environment = json.at("environment").get<std::string>(),
            .learner = json.at("learner").get<std::string>(),
            .layout = number("layout"),
            .spaces = number("spaces"),
            .files = json.at("files"),
            .iteration = json.at("iteration").get<uint64_t>(),
            .steps = json.at("steps").get<uint64_t>(),
            .tick = json.at("tick").get<uint64_t>(),
            .evaluation = read_score(json.at("evaluation")),
            .best = read_score(json.at("best"))};
}

// The JSON's own checksum is over its text without it.
std::string sealed(Json json) {
    json["seal"] = hash_of(json.dump());
    return json.dump(2) + "\n";
}
Json unsealed(const fs::path& path) {
    Json json = Json::parse(read_file(path), nullptr, false);
    if (!json.is_object() || !json.contains("seal"))
        throw Error(path.string(), "is damaged: it is no checkpoint's JSON");
    const Json seal = json["seal"];
    json.erase("seal");
    if (seal != hash_of(json.dump()))
        throw Error(path.string(), "is damaged: its checksum is another one");
    if (json.value("format", 0) != format)
        throw Error(path.string(), "is of format " + json.value("format", Json()).dump() +
                                       "; this program reads " + std::to_string(format));
    return json;
}

std::optional<uint64_t> steps_of(const fs::path& path) {
    const std::string stem = path.stem().string();
    uint64_t steps = 0;
    if (path.extension() != ".json" || !stem.starts_with("step-")) return {};
    const char *const first = stem.data() + 5, *const last = stem.data() + stem.size();
    const auto [end, wrong] = std::from_chars(first, last, steps);
    if (wrong != std::errc() || end != last) return {};
    return steps;
}

// Tensors in a folder that no JSON names, as a process leaves them that is killed between the two.
template <class Wanted> void remove_tensors(const fs::path& folder, Wanted&& wanted) {
    std::error_code ignored;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".safetensors" && !wanted(entry.path().filename().string()))
            old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path, ignored);
}
// Those of the best checkpoint but the one named.
void remove_old_best(const fs::path& folder, const std::string& kept) {
    remove_tensors(folder, [&](const std::string& name) {
        return !name.starts_with("best-") || name == kept;
    });
}

}

fs::path Checkpoints::of_steps(uint64_t steps) const {
    return folder_ / (stem_of(steps) + ".json");
}

void Checkpoints::save(const CheckpointRecord& record, const std::string& tensors,
                       bool as_best) const {
    const std::string stem = stem_of(record.steps),
                      file = (as_best ? "best-" : "") + stem + ".safetensors";
    Json json = json_of(record);
    json["tensors"] = {{"file", file}, {"bytes", tensors.size()}, {"checksum", hash_of(tensors)}};
    write_file(folder_ / file, tensors);
    write_file(as_best ? best() : of_steps(record.steps), sealed(json));
    if (as_best) remove_old_best(folder_, file);
}

void Checkpoints::remove_best() const {
    std::error_code ignored;
    fs::remove(best(), ignored);
    remove_old_best(folder_, "");
}

void Checkpoints::prune(uint64_t keep, uint64_t steps) const {
    uint64_t found = 0;
    for (const CheckpointFile& one : list()) {
        if (one.steps > steps || ++found <= keep) continue;
        // The JSON first: a checkpoint without it does not exist.
        std::error_code ignored;
        fs::remove(one.path, ignored);
        fs::remove(fs::path(one.path).replace_extension(".safetensors"), ignored);
    }
}

void Checkpoints::tidy(uint64_t keep, uint64_t steps) const {
    prune(keep, steps);
    remove_tensors(folder_, [&](const std::string& name) {
        return !name.starts_with("step-") ||
               fs::exists((folder_ / name).replace_extension(".json"));
    });
    if (!fs::exists(best())) return remove_old_best(folder_, "");
    try {
        remove_old_best(folder_, unsealed(best()).at("tensors").at("file").get<std::string>());
    } catch (const std::exception&) {
        // A best checkpoint that cannot be read is left as it is.
    }
}

std::vector<CheckpointFile> Checkpoints::list() const {
    std::vector<CheckpointFile> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored))
        if (const auto steps = steps_of(entry.path())) found.push_back({entry.path(), *steps});
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.steps > b.steps; });
    return found;
}

Checkpoint Checkpoints::read(const fs::path& path) {
    const Json json = unsealed(path);
    Checkpoint checkpoint;
    checkpoint.where = path.string();
    std::string name, checksum;
    uint64_t bytes = 0;
    try {
        checkpoint.record = record_of(json);
        name = json.at("tensors").at("file").get<std::string>();
        bytes = json.at("tensors").at("bytes").get<uint64_t>();
        checksum = json.at("tensors").at("checksum").get<std::string>();
    } catch (const std::exception& wrong) {
        throw Error(path.string(), std::string("is damaged: ") + wrong.what());
    }
    const fs::path tensors = path.parent_path() / fs::path(name).filename();
    checkpoint.file = std::make_shared<const std::string>(read_file(tensors));
    const std::string& file = *checkpoint.file;
    if (file.size() != bytes)
        throw Error(tensors.string(), "is damaged: it has " + std::to_string(file.size()) + " of " +
                                          std::to_string(bytes) + " bytes");
    if (hash_of(file) != checksum)
        throw Error(tensors.string(), "is damaged: its checksum is another one");
    checkpoint.tensors = read_safetensors(std::as_bytes(std::span(file)), tensors.string());
    return checkpoint;
}

std::optional<Checkpoint>
Checkpoints::newest(const std::function<void(const std::string&)>& skipped) const {
    std::vector<std::string> reasons;
    for (const CheckpointFile& one : list()) {
        try {
            Checkpoint found = read(one.path);
            for (const std::string& why : reasons) skipped(why);
            return found;
        } catch (const Error& wrong) {
            reasons.emplace_back(wrong.what());
        }
    }
    if (!reasons.empty())
        throw Error(folder_.string(), "no checkpoint is whole: " + reasons.front(),
                    fs::exists(best()) ? "the best one is in best.json" : "");
    return {};
}

}
