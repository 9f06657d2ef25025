#pragma once
#include "engine/recording/block.h"
#include "engine/recording/form.h"

namespace nacelle {

// What is known of an episode without its arrays.
struct EpisodeSummary {
    uint32_t environment = 0;
    uint64_t steps = 0;
    std::string ended;              // "terminated", "truncated", or "cut" where nobody saw its end
    std::vector<double> returns;    // of each agent; of a group of more than 16, their mean
    uint64_t tick = 0, seed = 0;    // at its start
    double progress_per_tick = 0;
    Json params = Json::object();       // the values of Params, by name
    std::optional<uint64_t> trained;    // steps that its policy was trained for
};

// An episode with its arrays, in the order of the header's. An array has its rows one behind the other:
// one for each step, or one behind the last step, which an episode that was cut lacks.
struct RecordedEpisode {
    EpisodeSummary summary;
    std::vector<std::vector<std::byte>> columns;
};

// Throws where the sizes are not those of the header.
std::string episode_text(const RecordingHeader& header, const RecordedEpisode& episode);
Json summary_json(const EpisodeSummary& summary);
// Throws where the JSON is that of no episode which an environment could have played.
EpisodeSummary read_summary(const Json& json, const RecordingHeader& header);
// What an episode's arrays take; nothing where that is beyond all bounds.
std::optional<uint64_t> episode_bytes(const RecordingHeader& header, const EpisodeSummary& summary);
// Nothing where the data is not of the size that header and summary say.
std::optional<RecordedEpisode> read_episode(const RecordingHeader& header,
                                            const EpisodeSummary& summary,
                                            std::span<const std::byte> data);

// Rows that an array of an episode has.
uint64_t rows_of(const RecordedArray& array, const EpisodeSummary& summary);
// Of how many agents a reward's returns are told apart; 1: their mean.
size_t returns_of(const RecordedArray& reward);

}
