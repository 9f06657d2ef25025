// Replaces play_archive.cpp, play_pictures.cpp and play_video.cpp where their libraries are missing.
#include "engine/base/error.h"
#include "tools/play_export.h"

namespace nacelle::tools {
namespace {

Error missing(const std::filesystem::path& path) {
    return {
        path.string(), "this build writes neither archives nor pictures",
        "install libminizip-dev, libagg-dev, libpng-dev and libgif-dev, and build again; .jsonl, "
        ".csv and .svg need none of them"};
}

}

void write_npz(const std::filesystem::path& path, const Recording&, const Selection&) {
    throw missing(path);
}
void write_png(const std::filesystem::path& path, const DisplayList&, int) { throw missing(path); }
void write_png(const std::filesystem::path& path, RecordingFrames&, size_t, uint64_t,
               const PictureSettings&) {
    throw missing(path);
}
void write_gif(const std::filesystem::path& path, RecordingFrames&, const std::vector<size_t>&,
               const PictureSettings&) {
    throw missing(path);
}
void require_ffmpeg(const std::filesystem::path& path) { throw missing(path); }
void write_video(const std::filesystem::path& path, const std::string&, RecordingFrames&,
                 const std::vector<size_t>&, const PictureSettings&) {
    throw missing(path);
}

}
