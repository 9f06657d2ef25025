#pragma once
#include "engine/recording/recording_frames.h"

namespace nacelle::tools {

// Passes the picture of each step of the episodes, and whether it is the last of its episode, as long as `take` returns
// true.
template <class Take>
void each_frame(RecordingFrames& frames, const std::vector<size_t>& episodes, Take take) {
    for (const size_t episode : episodes) {
        const uint64_t steps = frames.recording().episodes()[episode].steps;
        for (uint64_t t = 0; t < steps; ++t)
            if (!take(frames.frame(episode, t), t + 1 == steps)) return;
    }
}

}
