#pragma once
#include "engine/run/file_hashes.h"
#include "engine/run/safetensors.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace nacelle {

// The facts of a checkpoint beside its tensors: its environment and learner, and the progress of the run. It has no
// times and no paths.
struct CheckpointRecord {
    struct Score {
        double mean_return = 0;
        uint64_t steps = 0;    // at which it was found
    };
    std::string environment, learner;
    uint64_t layout = 0, spaces = 0;                // of the environment's table
    FileHashes files;                               // of the author's
    uint64_t iteration = 0, steps = 0, tick = 0;    // tick: of the environment's clock
    std::optional<Score> evaluation, best;          // the last one; the best so far
    nlohmann::json policies = nullptr;    // how each acts, as the learner tells it; null: not told
    nlohmann::json problem = nullptr;    // problem_of() of the evaluations; null: none, or not told
};

// A checkpoint in memory, its checksums verified.
struct Checkpoint {
    CheckpointRecord record;
    std::string where;    // the JSON's path
    // The bytes of the tensors' file, which all copies share.
    std::shared_ptr<const std::string> file;
    std::vector<Tensor> tensors;
};

// A checkpoint on disk, named by its JSON.
struct CheckpointFile {
    std::filesystem::path path;
    uint64_t steps = 0;
};

// The checkpoints of a run: step-N.json with step-N.safetensors, and best.json. The tensors are synced before the
// JSON is renamed into place, so that a checkpoint exists when its JSON does. Both have checksums. N has at least
// fifteen digits. Files of other names are never read, counted or removed.
class Checkpoints final {
public:
    // Not `synced`: a power cut may leave what is saved empty or damaged.
    explicit Checkpoints(std::filesystem::path folder, bool synced = true)
        : folder_(std::move(folder)), synced_(synced) {}

    // Saves it under its number of steps, or as the best one, which it replaces.
    void save(const CheckpointRecord&, const std::string& tensors, bool as_best) const;
    // Removes the checkpoints of up to `steps` steps except the newest `keep` of them; never the best.
    void prune(uint64_t keep, uint64_t steps) const;
    // Prunes, and removes what a process left that was killed while it saved or removed.
    void tidy(uint64_t keep, uint64_t steps) const;

    // Whether a file of this name is part of a checkpoint, in whatever folder.
    static bool is_named(const std::string& name);
    // A file that save() would overwrite or prune() remove, if there is one.
    std::optional<std::filesystem::path> first_file() const;
    // Newest first, whether whole or not; without the best.
    std::vector<CheckpointFile> list() const;
    std::filesystem::path best() const { return folder_ / "best.json"; }
    void remove_best() const;
    std::filesystem::path of_steps(uint64_t steps) const;
    // Throws where a part is missing, cut short, damaged, of another format or under another's name.
    static Checkpoint read(const std::filesystem::path& json);
    // The record alone. Throws where the JSON is damaged, or where its tensors' file is missing or of another size.
    static CheckpointRecord read_record(const std::filesystem::path& json);
    // The newest whole checkpoint; `skipped` gets the reason of each newer one that is not whole. Nothing where there
    // are none at all; throws where none is whole.
    std::optional<Checkpoint>
    newest(const std::function<void(const std::string& why)>& skipped) const;

private:
    std::filesystem::path folder_;
    bool synced_;
};

}
