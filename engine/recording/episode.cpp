#include "engine/recording/episode.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/env/settings.h"

#include <cmath>
#include <limits>

namespace nacelle {
namespace {

// Stores the first bytes of all numbers, then all second bytes and so on: numbers that change little from step to
// step pack to half the size.
void split_bytes(std::span<const std::byte> from, size_t unit, std::byte* to) {
    const size_t count = from.size() / unit;
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < unit; ++k) to[k * count + i] = from[i * unit + k];
}
void join_bytes(std::span<const std::byte> from, size_t unit, std::byte* to) {
    const size_t count = from.size() / unit;
    for (size_t i = 0; i < count; ++i)
        for (size_t k = 0; k < unit; ++k) to[i * unit + k] = from[k * count + i];
}

// The engine counts the steps of an episode in an int.
constexpr uint64_t most_steps = std::numeric_limits<int32_t>::max();
// The most agents of a group whose returns are stored one by one.
constexpr uint32_t most_returns = 16;

// At least the returns of the recorded rewards.
std::vector<double> read_returns(const Json& json, const RecordingHeader& header) {
    size_t least = 0;
    for (const RecordedArray& array : header.arrays)
        if (array.field.role == Role::reward) least += returns_of(array);
    if (!json.is_array() || json.empty() || json.size() < least ||
        json.size() > size_t(most_groups) * most_returns)
        throw Error("returns", "are of another number of agents");
    std::vector<double> returns;
    for (const Json& one : json) {    // JSON has null where a number is not finite
        if (!one.is_null() && !one.is_number()) throw Error("returns", "are no numbers");
        returns.push_back(one.is_null() ? std::nan("") : one.get<double>());
    }
    return returns;
}

std::string read_ended(const Json& json) {
    std::string ended = json;
    if (ended != "terminated" && ended != "truncated" && ended != "cut")
        throw Error("ended", "is '" + ended + "'");
    return ended;
}

}

size_t returns_of(const RecordedArray& reward) {
    return reward.rows <= most_returns ? reward.rows : 1;
}

Json summary_json(const EpisodeSummary& summary) {
    Json json = {{"environment", summary.environment},
                 {"steps", summary.steps},
                 {"ended", summary.ended},
                 {"returns", summary.returns},
                 {"tick", summary.tick},
                 {"seed", summary.seed},
                 {"progress_per_tick", summary.progress_per_tick},
                 {"params", summary.params}};
    if (summary.progress_from != 0) json["progress_from"] = summary.progress_from;
    if (summary.trained) json["trained"] = *summary.trained;
    return json;
}

uint64_t rows_of(const RecordedArray& array, const EpisodeSummary& summary) {
    return array.moment != Moment::end ? summary.steps : summary.ended == "cut" ? 0 : 1;
}

std::string episode_text(const RecordingHeader& header, const RecordedEpisode& episode) {
    std::vector<std::byte> data;
    for (size_t i = 0; i < header.arrays.size(); ++i) {
        const RecordedArray& array = header.arrays[i];
        const std::vector<std::byte>& column = episode.columns.at(i);
        if (column.size() != rows_of(array, episode.summary) * array.bytes())
            throw Error(header.environment,
                        "an episode of " + std::to_string(episode.summary.steps) + " steps has " +
                            std::to_string(column.size()) + " bytes of " + array.name());
        data.resize(data.size() + column.size());
        split_bytes(column, dtype_size(array.field.dtype),
                    data.data() + data.size() - column.size());
    }
    return block_text("epis", summary_json(episode.summary), data);
}

EpisodeSummary read_summary(const Json& json, const RecordingHeader& header) {
    const auto whole = [&](const char* key, uint64_t least = 0,
                           uint64_t most = std::numeric_limits<uint64_t>::max()) {
        return whole_number(json.at(key), key, least, most);
    };
    EpisodeSummary summary{
        .environment = uint32_t(whole("environment", 0, most_envs)),
        .steps = whole("steps", 1, most_steps),
        .ended = read_ended(json.at("ended")),
        .returns = read_returns(json.at("returns"), header),
        .tick = whole("tick"),
        .seed = whole("seed"),
        .progress_from = json.value("progress_from", 0.0),
        .progress_per_tick = json.at("progress_per_tick"),
        .params = json.at("params"),
    };
    if (!(std::abs(summary.progress_from) <= 1)) throw Error("progress_from", "is out of bounds");
    if (!(std::abs(summary.progress_per_tick) <= 1))
        throw Error("progress_per_tick", "is out of bounds");
    if (!summary.params.is_object()) throw Error("params", "are no object");
    if (json.contains("trained")) summary.trained = whole("trained");
    return summary;
}

std::optional<uint64_t> episode_bytes(const RecordingHeader& header,
                                      const EpisodeSummary& summary) {
    uint64_t sum = 0;
    for (const RecordedArray& array : header.arrays) {
        uint64_t bytes = 0;
        if (__builtin_mul_overflow(rows_of(array, summary), uint64_t(array.bytes()), &bytes) ||
            __builtin_add_overflow(sum, bytes, &sum))
            return std::nullopt;
    }
    return sum;
}

std::optional<RecordedEpisode> read_episode(const RecordingHeader& header,
                                            const EpisodeSummary& summary,
                                            std::span<const std::byte> data) {
    RecordedEpisode episode{.summary = summary, .columns = {}};
    for (const RecordedArray& array : header.arrays) {
        const uint64_t rows = rows_of(array, summary), bytes = array.bytes();
        if (rows > data.size() / bytes) return std::nullopt;
        std::vector<std::byte>& column = episode.columns.emplace_back(rows * bytes);
        join_bytes(data.first(column.size()), dtype_size(array.field.dtype), column.data());
        data = data.subspan(column.size());
    }
    if (!data.empty()) return std::nullopt;
    return episode;
}

}
