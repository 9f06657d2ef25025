#pragma once
#include "engine/run/safetensors.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace nacelle {

// What a checkpoint says beside its tensors: whose it is, and where the run stood. No times, no paths.
struct CheckpointRecord {
    struct Score {
        double mean_return = 0;
        uint64_t steps = 0;    // at which it was found
    };
    std::string environment, learner;
    uint64_t layout = 0, spaces = 0;    // of the environment's table
    nlohmann::json files;               // the hash of each of the author's files, by name
    uint64_t iteration = 0, steps = 0, tick = 0;    // tick: of the environment's clock
    std::optional<Score> evaluation, best;          // the last one; the best so far
};

// A checkpoint in memory, its checksums verified.
struct Checkpoint {
    CheckpointRecord record;
    std::string where;    // the JSON's path
    std::shared_ptr<const std::string>
        file;    // the bytes of the tensors' file, which all copies share
    std::vector<Tensor> tensors;
};

// A checkpoint on the disk, by its JSON.
struct CheckpointFile {
    std::filesystem::path path;
    uint64_t steps = 0;
};

// The checkpoints of a run: step-N.json with step-N.safetensors, and best.json. The JSON is renamed into
// place last, once its tensors are on the disk: it is what makes a checkpoint exist. Each has checksums.
// N has at least fifteen digits. Files of other names are never read, counted or removed.
class Checkpoints final {
public:
    explicit Checkpoints(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Under its number of steps, or as the best one, in whose place it goes.
    void save(const CheckpointRecord&, const std::string& tensors, bool as_best) const;
    // Removes those of up to `steps` steps but for the newest `keep` of them, never the best.
    void prune(uint64_t keep, uint64_t steps) const;
    // The same, and what a process left behind that was killed while it saved or removed.
    void tidy(uint64_t keep, uint64_t steps) const;

    // One that save() would write over or prune() remove, if there is any.
    std::optional<std::filesystem::path> first_file() const;
    // By steps, the newest first, whether whole or not; without the best.
    std::vector<CheckpointFile> list() const;
    std::filesystem::path best() const { return folder_ / "best.json"; }
    void remove_best() const;
    std::filesystem::path of_steps(uint64_t steps) const;
    // Throws where a part is missing, cut, damaged, of another format or under another's name.
    static Checkpoint read(const std::filesystem::path& json);
    // The newest that is whole; `skipped` is told of each newer one, with the reason. Nothing where there
    // is none at all; throws where there are some, and none is whole.
    std::optional<Checkpoint>
    newest(const std::function<void(const std::string& why)>& skipped) const;

private:
    std::filesystem::path folder_;
};

}
