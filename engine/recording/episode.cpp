#include "engine/recording/episode.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"

namespace nacelle {
namespace {

// First bytes of all numbers together, then all second ones: in numbers that change little from step to
// step most of these look alike, which packs to half the size.
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

EpisodeSummary read_summary(const Json& json) {
    EpisodeSummary summary{.environment = json.at("environment"),
                           .steps = json.at("steps"),
                           .ended = json.at("ended"),
                           .returns = json.at("returns"),
                           .tick = json.at("tick"),
                           .seed = json.at("seed"),
                           .progress_per_tick = json.at("progress_per_tick"),
                           .params = json.at("params")};
    if (json.contains("trained")) summary.trained = json.at("trained").get<uint64_t>();
    return summary;
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
