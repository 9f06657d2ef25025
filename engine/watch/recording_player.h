#pragma once
#include "engine/recording/recording_frames.h"
#include "engine/watch/section_texts.h"
#include "engine/watch/viewer.h"

#include <chrono>

namespace nacelle {

// What is played, and where it begins.
struct PlayerSettings {
    std::vector<size_t> episodes;    // those that can be chosen, at least one
    std::vector<size_t> arrays;      // of the header; shown first; empty: the default
    size_t episode = 0;              // of the recording
    uint64_t step = 0;
    double pace = 25;    // steps a second
    bool paused = false;
};

// Plays a recording for a viewer: the picture and the arrays of a step, and the next step when it is due; commands
// select another episode or step. The chosen episodes follow each other; after the last one it pauses.
class RecordingPlayer final {
public:
    RecordingPlayer(RecordingFrames& frames, std::shared_ptr<Viewer> viewer,
                    PlayerSettings settings);

    // Executes commands and shows what is due. To be called every few milliseconds.
    void turn();

private:
    using Clock = std::chrono::steady_clock;

    const EpisodeSummary& summary() const { return frames_.recording().episodes()[episode_]; }
    const std::vector<RecordedArray>& arrays() const { return frames_.recording().header().arrays; }
    bool is_chosen(size_t episode) const;
    size_t agents() const;
    void obey(const Json& command);
    void choose_arrays(const Json& names);
    void choose_environment(const Json& value);
    void go_to(size_t episode, uint64_t step);
    void move();
    bool move_on();
    void pause(bool paused);
    void show_recording();
    void show_environment();
    void show_parameters();
    void show_curves();
    void show_status();
    void show_step();

    RecordingFrames& frames_;
    std::shared_ptr<Viewer> viewer_;
    PlayerSettings settings_;
    size_t episode_;
    uint64_t step_;
    std::optional<uint32_t> environment_;    // play only its episodes
    ArrayChoice shown_;
    Clock::time_point due_;
    bool fresh_ = true;    // the current step has not been shown
};

}
