#pragma once
#include "engine/recording/film.h"

namespace nacelle::tools {

// What of a recording is exported.
struct Selection {
    std::vector<size_t> episodes;
    std::vector<size_t> arrays;    // indices of the header's
};

// One JSON object a line: an episode, then each of its steps.
std::string json_lines(const Recording& recording, const Selection& selection);
// A line for each step, a column for each number.
std::string csv_text(const Recording& recording, const Selection& selection);
// Writes an archive of .npy files, one for each array: all steps of all episodes one behind the other.
void write_npz(const std::filesystem::path& path, const Recording& recording,
               const Selection& selection);

struct PictureSettings {
    int pixels = 480;    // of the longer side
    int fps = 25;
};
// One picture.
void write_png(const std::filesystem::path& path, Film& film, size_t episode, uint64_t step,
               const PictureSettings& settings);
// Every step of the episodes, as a picture that moves and begins again.
void write_gif(const std::filesystem::path& path, Film& film, const std::vector<size_t>& episodes,
               const PictureSettings& settings);

}
