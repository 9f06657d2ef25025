#include "engine/run/run_ranks.h"

#include "engine/base/error.h"
#include "engine/env/settings.h"
#include "engine/run/checkpoint_json.h"

namespace nacelle {
namespace {

// The first path at which two configurations differ, with both values; empty where they are equal.
std::string difference(const Json& mine, const Json& its, const std::string& path) {
    if (mine == its) return {};
    if (!mine.is_object() || !its.is_object())
        return path + " is " + json_text(mine) + " here and " + json_text(its) + " on rank 0";
    const auto at = [](const Json& object, const std::string& key) {
        return object.contains(key) ? object[key] : Json();
    };
    Json keys = its;
    keys.update(mine);
    for (const auto& [key, value] : keys.items()) {
        const std::string found =
            difference(at(mine, key), at(its, key), path.empty() ? key : path + "." + key);
        if (!found.empty()) return found;
    }
    return {};
}

}

RunRanks::RunRanks(RunsOn& on) : ranks_(on.ranks.get()) {
    if (ranks_) host_.emplace(*ranks_, on.device, *on.stream);
}

RunRanks::Decided RunRanks::decide(uint64_t number, bool stops) {
    if (!several()) return {number, stops};
    double values[] = {first() ? double(number) : 0, stops ? 1.0 : 0.0};
    host_->all_reduce(values, Reduction::sum);
    return {uint64_t(values[0]), values[1] > 0};
}

void RunRanks::synchronize(Stream& stream) {
    std::optional<RankWait> wait;
    if (several()) wait.emplace(ranks_->progress());
    stream.synchronize();
}

void RunRanks::share(std::span<double> values) { share(std::as_writable_bytes(values), 0); }

void RunRanks::share(std::span<std::byte> bytes, uint32_t from) {
    if (several()) host_->broadcast(bytes, from);
}

std::optional<Checkpoint> RunRanks::share(std::optional<Checkpoint> checkpoint) {
    if (!several()) return checkpoint;
    std::string where, text, file;
    if (checkpoint) {
        where = checkpoint->where;
        text = checkpoint_text({.record = checkpoint->record,
                                .file = "tensors",
                                .bytes = checkpoint->file->size(),
                                .checksum = checkpoint_checksum(*checkpoint->file)});
        file = *checkpoint->file;
    }
    where = host_->broadcast(std::move(where), 0);
    text = host_->broadcast(std::move(text), 0);
    file = host_->broadcast(std::move(file), 0);
    if (first() || text.empty()) return checkpoint;
    Checkpoint found{.record = checkpoint_of_text(text, where).record,
                     .where = where,
                     .file = std::make_shared<const std::string>(std::move(file)),
                     .tensors = {}};
    found.tensors = read_safetensors(std::as_bytes(std::span(*found.file)), where);
    return found;
}

void RunRanks::by_first(const std::function<void()>& does) {
    if (!several()) return does();
    std::exception_ptr failure;
    std::string why;
    try {
        if (first()) does();
    } catch (const std::exception& wrong) {
        failure = std::current_exception();
        why = wrong.what();
    }
    const bool failed = any(failure != nullptr, 1) != 0;
    if (!failed) return;
    why = host_->broadcast(std::move(why), 0);
    if (failure) std::rethrow_exception(failure);
    throw OtherRankFailed("rank 0: " + why);
}

void RunRanks::require_same(const Json& configuration, const Json& files) {
    if (!several()) return;
    // Machines may have the same file in other folders.
    Json mine = configuration;
    mine["env"].erase("source");
    mine["files"] = files;
    const Json its =
        parse_json(host_->broadcast(first() ? json_text(mine) : std::string(), 0), "rank 0");
    const std::string found = difference(mine, its, "");
    const uint32_t other = any(!found.empty());
    if (!found.empty())
        throw Error("rank " + std::to_string(rank()), "has other settings than rank 0: " + found,
                    "start all ranks with the same command");
    if (other)
        throw Error("rank " + std::to_string(other), "has other settings than rank 0",
                    "it says which");
}

void RunRanks::require_equal(const std::string& text, const std::string& what) {
    if (!several()) return;
    const bool differs = host_->broadcast(first() ? text : std::string(), 0) != text;
    if (const uint32_t other = any(differs))
        throw Error("rank " + std::to_string(other), "has other " + what + " than rank 0",
                    "a rank computes wrongly: its memory or its GPU may be damaged");
}

uint32_t RunRanks::any(bool says, uint32_t first) {
    double highest[] = {says ? double(rank() + first) : 0.0};
    host_->all_reduce(highest, Reduction::max);
    return uint32_t(highest[0]);
}

uint32_t envs_of_rank(uint64_t count, const Json& configuration, const RunsOn& on,
                      const std::string& where) {
    Config run = Config(configuration, where).object("run");
    const uint64_t now = on.ranks ? on.ranks->count() : 1,
                   meant = uint64_t(run.integer("ranks", int64_t(now), 1, 1 << 16)),
                   all = count * meant;
    if (all % now)
        throw Error(where,
                    "env.count: " + std::to_string(count) + " environments for each of " +
                        std::to_string(meant) + " ranks are " + std::to_string(all) +
                        ", which cannot be dealt out to " + std::to_string(now) + " ranks evenly",
                    "another number of ranks, or another env.count");
    if (all / now > most_envs)
        throw Error(where,
                    "env.count: " + std::to_string(count) + " environments for each of " +
                        std::to_string(meant) + " ranks are " + std::to_string(all / now) +
                        " for each of " + std::to_string(now),
                    "a rank has at most " + std::to_string(most_envs));
    return uint32_t(all / now);
}

}
