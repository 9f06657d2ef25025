#include "engine/run/checkpoint.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/checkpoint_json.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <unistd.h>

namespace nacelle {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view json_start = "step-", best_start = "best-step-", json_end = ".json",
                           tensors_end = ".safetensors";

std::string name_of(std::string_view start, uint64_t steps, std::string_view end) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%015llu", static_cast<unsigned long long>(steps));
    return std::string(start) + digits + std::string(end);
}
// The steps in a name of name_of(); nothing for other names.
std::optional<uint64_t> steps_in(const std::string& name, std::string_view start,
                                 std::string_view end) {
    if (!name.starts_with(start)) return {};
    uint64_t steps = 0;
    std::from_chars(name.data() + start.size(), name.data() + name.size(), steps);
    if (name != name_of(start, steps, end)) return {};
    return steps;
}
bool is_tensors(const std::string& name) {
    return steps_in(name, json_start, tensors_end).has_value();
}
bool is_best_tensors(const std::string& name) {
    return steps_in(name, best_start, tensors_end).has_value();
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        names.push_back(entry.path().filename().string());
    return names;
}
// Removes a file; fs::remove would also remove an empty folder.
void remove_file(const fs::path& path) { ::unlink(path.c_str()); }

template <class Unwanted> void remove_files(const fs::path& folder, Unwanted&& unwanted) {
    for (const std::string& name : names_in(folder))
        if (unwanted(name)) remove_file(folder / name);
}
// Removes the tensors of best checkpoints other than the named ones.
void remove_old_best(const fs::path& folder, const std::string& kept) {
    remove_files(folder,
                 [&](const std::string& name) { return is_best_tensors(name) && name != kept; });
}

// Whether a JSON has its own name and tensors: a copy under another name is ignored, and nothing in it leads out of
// the folder.
CheckpointJson read_named(const fs::path& path) {
    CheckpointJson json = read_checkpoint_json(path);
    const uint64_t steps = json.record.steps;
    const auto named = steps_in(path.filename().string(), json_start, json_end);
    if (named && *named != steps)
        throw Error(path.string(), "is named after step " + std::to_string(*named) +
                                       " but was saved at step " + std::to_string(steps));
    const std::string file = name_of(named ? json_start : best_start, steps, tensors_end);
    if (json.file != file)
        throw Error(path.string(),
                    "is damaged: its 'tensors.file' is " + json.file + ", not " + file);
    return json;
}

// Before any of it is read.
void require_size(const fs::path& tensors, uint64_t wanted) {
    std::error_code missing;
    const uintmax_t bytes = fs::file_size(tensors, missing);
    if (missing) throw Error(tensors.string(), "is damaged: " + missing.message());
    if (bytes != wanted)
        throw Error(tensors.string(), "is damaged: it has " + std::to_string(bytes) + " of " +
                                          std::to_string(wanted) + " bytes");
}

}

fs::path Checkpoints::of_steps(uint64_t steps) const {
    return folder_ / name_of(json_start, steps, json_end);
}

void Checkpoints::save(const CheckpointRecord& record, const std::string& tensors,
                       bool as_best) const {
    const std::string file = name_of(as_best ? best_start : json_start, record.steps, tensors_end);
    const auto write = synced_ ? write_file : write_cached_file;
    write(folder_ / file, tensors);
    write(as_best ? best() : of_steps(record.steps),
          checkpoint_text({.record = record,
                           .file = file,
                           .bytes = tensors.size(),
                           .checksum = checkpoint_checksum(tensors)}));
    if (as_best) remove_old_best(folder_, file);
}

void Checkpoints::remove_best() const {
    remove_file(best());
    remove_old_best(folder_, "");
}

void Checkpoints::prune(uint64_t keep, uint64_t steps) const {
    uint64_t found = 0;
    for (const CheckpointFile& one : list()) {
        if (one.steps > steps || ++found <= keep) continue;
        // The JSON first: without it the checkpoint does not exist.
        remove_file(one.path);
        remove_file(folder_ / name_of(json_start, one.steps, tensors_end));
    }
}

void Checkpoints::tidy(uint64_t keep, uint64_t steps) const {
    prune(keep, steps);
    remove_files(folder_, [&](const std::string& name) {
        return is_tensors(name) && !fs::exists((folder_ / name).replace_extension(json_end));
    });
    if (!fs::exists(best())) return remove_old_best(folder_, "");
    try {
        remove_old_best(folder_, read_named(best()).file);
    } catch (const Error&) {
        // A best checkpoint that cannot be read stays as it is.
    }
}

bool Checkpoints::is_named(const std::string& name) {
    return name == "best.json" || steps_in(name, json_start, json_end) || is_tensors(name) ||
           is_best_tensors(name);
}

std::optional<fs::path> Checkpoints::first_file() const {
    std::vector<std::string> names = names_in(folder_);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        if (is_named(name)) return folder_ / name;
    return {};
}

std::vector<CheckpointFile> Checkpoints::list() const {
    std::vector<CheckpointFile> found;
    for (const std::string& name : names_in(folder_))
        if (const auto steps = steps_in(name, json_start, json_end))
            found.push_back({folder_ / name, *steps});
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.steps > b.steps; });
    return found;
}

CheckpointRecord Checkpoints::read_record(const fs::path& path) {
    const CheckpointJson json = read_named(path);
    const fs::path tensors = path.parent_path() / json.file;
    require_size(tensors, json.bytes);
    return json.record;
}

Checkpoint Checkpoints::read(const fs::path& path) {
    const CheckpointJson json = read_named(path);
    const fs::path tensors = path.parent_path() / json.file;
    open_plain_file(tensors);    // says what is there in place of a file
    require_size(tensors, json.bytes);
    Checkpoint checkpoint{
        .record = json.record,
        .where = path.string(),
        .file = std::make_shared<const std::string>(read_plain_file(tensors, json.bytes)),
        .tensors = {}};
    const std::string& file = *checkpoint.file;
    if (checkpoint_checksum(file) != json.checksum)
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
