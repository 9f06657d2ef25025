#pragma once
#include "engine/recording/block.h"
#include "engine/recording/format.h"

namespace nacelle {

// The facts of an episode without its arrays.
struct EpisodeSummary {
    uint32_t environment = 0;
    uint64_t steps = 0;
    std::string ended;    // "terminated", "truncated", or "cut" where its end was not recorded
    std::vector<double> returns;    // of each agent; of a group of more than 16, their mean
    uint64_t tick = 0, seed = 0;    // at its start
    double progress_from = 0, progress_per_tick = 0;
    Json params = Json::object();       // the values of Params, by name
    std::optional<uint64_t> trained;    // steps that its policy was trained for
};

// An episode with its arrays, in the order of the header. An array has its rows one after the other: one for each
// step, or a single one after the last step, which an episode that was cut lacks.
struct RecordedEpisode {
    EpisodeSummary summary;
    std::vector<std::vector<std::byte>> columns;
};

// Throws where the sizes differ from those of the header.
std::string episode_text(const RecordingHeader& header, const RecordedEpisode& episode);
Json summary_json(const EpisodeSummary& summary);
// Throws where the JSON does not describe a possible episode of the environment.
EpisodeSummary read_summary(const Json& json, const RecordingHeader& header);
// The bytes of an episode's arrays; nothing where that is out of bounds.
std::optional<uint64_t> episode_bytes(const RecordingHeader& header, const EpisodeSummary& summary);
// Nothing where the size of the data differs from that of header and summary.
std::optional<RecordedEpisode> read_episode(const RecordingHeader& header,
                                            const EpisodeSummary& summary,
                                            std::span<const std::byte> data);

// The number of rows of an array in an episode.
uint64_t rows_of(const RecordedArray& array, const EpisodeSummary& summary);
// The number of agents whose returns are stored one by one; 1: their mean.
size_t returns_of(const RecordedArray& reward);

}
