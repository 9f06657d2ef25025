#pragma once
#include "engine/env/environment.h"
#include "engine/recording/writer.h"

namespace nacelle {

// What to record.
struct RecordSettings {
    std::vector<uint32_t> environments;    // in rising order
    std::vector<std::string> arrays;       // by name or by the start of one; empty: all
};

// The header of a recording of these arrays. Throws where an array or an environment does not exist.
RecordingHeader recording_header(Environment& env, const RecordSettings& settings);
std::vector<RecordedTable> recorded_tables(Environment& env);

// Follows chosen environments over whole episodes. Steps are put on the environment's stream, with copies
// that stay on the device behind each; the host takes many steps at a time. So it can be captured, and
// what is recorded is what happens without it.
//
//     recorder.begin(...);                       // behind a restart
//     for each step: act, step, recorder.put(t)  // t from 0 to most_steps - 1
//     recorder.take(steps)                       // waits
//     recorder.finish()
class Recorder final {
public:
    static constexpr uint32_t most_steps = 25;

    Recorder(Environment& env, RecordingWriter& writer, RecordSettings settings);

    // Starts with an episode that begins now in all chosen environments below `envs`. `each`: the number of episodes
    // to keep of each environment, 0 for all. `seed` is that of the random numbers.
    void begin(uint32_t envs, uint64_t each, uint64_t seed, std::optional<uint64_t> trained = {});
    // Starts while episodes run: each chosen environment is recorded from its next one on.
    void begin_with_next(uint64_t seed, std::optional<uint64_t> trained = {});
    // The environment is another version with the same arrays; its episodes continue. All steps must have been taken.
    void reloaded();
    void put(uint32_t t);
    void take(uint32_t steps);
    // Writes unfinished episodes as cut where `cut`, else drops them.
    void finish(bool cut);

    const RecordingWriter& writer() const { return writer_; }

private:
    // An array that is copied: it is recorded, or tells ends and returns.
    struct Copied {
        const NamedArray* array;
        RecordedArray form;
        size_t offset;                   // in a step's memory
        std::optional<size_t> column;    // in the recording
    };
    struct Running {
        uint32_t environment;
        bool active = false;
        bool waits = false;    // for the end of an episode whose beginning was not recorded
        uint64_t left = 0;     // episodes to be kept; 0: any number
        RecordedEpisode episode;
    };

    void copy_to(uint32_t place);
    void take_step(const std::byte* before, const std::byte* after);
    void follow(Running& running, size_t which, const std::byte* before, const std::byte* after);
    void append(const Copied& copied, const std::byte* step, size_t which,
                std::vector<std::byte>& to) const;
    void add_rewards(const Copied& copied, const std::byte* step, size_t which,
                     std::span<double> returns) const;
    void take_drawn_params(Running& running, size_t which, const std::byte* step) const;
    bool is_set(const Copied* copied, const std::byte* step, size_t which) const;
    void open_episode(Running& running, uint64_t tick);
    void close_episode(Running& running, size_t which, const char* how, const std::byte* after);

    Environment& env_;
    RecordingWriter& writer_;
    RecordSettings settings_;
    std::vector<Copied> copied_;
    const Copied *terminated_ = nullptr, *truncated_ = nullptr;
    size_t step_bytes_ = 0;
    Buffer device_;
    std::vector<std::byte> host_;
    std::vector<Running> running_;
    uint64_t tick_ = 0, seed_ = 0;
    std::optional<uint64_t> trained_;
};

}
