#pragma once
#include "engine/recording/recording_frames.h"

namespace nacelle::tools {

// What 'play' writes, each the end of a file's name, too.
const std::vector<std::string>& exported_kinds();
// The one that a file is named for; empty: none.
std::string exported_ending(const std::filesystem::path& file);

// The part of a recording that is exported.
struct Selection {
    std::vector<size_t> episodes;
    std::vector<size_t> arrays;    // indices of the header's
};

// One JSON object a line: an episode, then each of its steps.
std::string json_lines(const Recording& recording, const Selection& selection);
// A line for each step, a column for each number.
std::string csv_text(const Recording& recording, const Selection& selection);
// Writes an archive of .npy files, one for each array, with all steps of all episodes in order.
void write_npz(const std::filesystem::path& path, const Recording& recording,
               const Selection& selection);

struct PictureSettings {
    int pixels = 480;    // of the longer side
    int fps = 25;
};
// One picture.
void write_png(const std::filesystem::path& path, const DisplayList& picture, int pixels);
void write_png(const std::filesystem::path& path, RecordingFrames& frames, size_t episode,
               uint64_t step, const PictureSettings& settings);
// Writes every step of the episodes as an endless animation.
void write_gif(const std::filesystem::path& path, RecordingFrames& frames,
               const std::vector<size_t>& episodes, const PictureSettings& settings);
// Throws where there is no ffmpeg, which encodes videos.
void require_ffmpeg(const std::filesystem::path& video);
// Writes every step of the episodes as a video, "mp4" (H.264) or "webm" (VP9).
void write_video(const std::filesystem::path& path, const std::string& kind,
                 RecordingFrames& frames, const std::vector<size_t>& episodes,
                 const PictureSettings& settings);

}
