// Recordings as videos: raw pictures go through a pipe to the program ffmpeg.
#include "engine/base/error.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/view/viewport.h"
#include "tools/play_export.h"
#include "tools/play_frames.h"
#include "tools/play_raster.h"
#include "tools/private_output.h"

#include <algorithm>
#include <string.h>

namespace nacelle::tools {
namespace {

namespace fs = std::filesystem;

struct VideoSize {
    int wide = 0, high = 0;
};

// Encoders store colours for squares of two by two pixels.
int even(double pixels) { return (int(pixels) + 1) / 2 * 2; }

// The size that every picture fits into. Drawings cost little; they are rendered later, one at a time.
VideoSize video_size(RecordingFrames& frames, const std::vector<size_t>& episodes, int pixels) {
    VideoSize size;
    each_frame(frames, episodes, [&](const DisplayList& list, bool) {
        const Viewport viewport(list, pixels);
        size = {std::max(size.wide, even(viewport.wide)), std::max(size.high, even(viewport.high))};
        return true;
    });
    return size;
}

std::vector<std::string> encoder(const std::string& kind) {
    if (kind == "mp4") return {"-c:v", "libx264", "-crf", "18", "-movflags", "+faststart"};
    return {"-c:v",      "libvpx-vp9", "-crf",      "24", "-b:v",    "0",
            "-deadline", "good",       "-cpu-used", "4",  "-row-mt", "1"};
}

// The output is named as a URL of files: nothing in its name is an option or another protocol. Without -xerror a full
// disk cuts the video short, and the status is 0.
std::vector<std::string> ffmpeg_command(const std::string& kind, const VideoSize& size, int fps,
                                        const fs::path& out) {
    std::vector<std::string> command = {
        "ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-xerror", "-y", "-f",
        "rawvideo", "-pixel_format", "rgb24", "-video_size",
        std::to_string(size.wide) + "x" + std::to_string(size.high), "-framerate",
        std::to_string(fps), "-i", "pipe:0", "-vf",
        // What players take for granted; equal recordings give equal bytes.
        "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-colorspace", "bt709",
        "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv", "-fflags",
        "+bitexact", "-flags:v", "+bitexact"};
    const std::vector<std::string> last = encoder(kind);
    command.insert(command.end(), last.begin(), last.end());
    command.insert(command.end(), {"-f", kind, "file:" + fs::absolute(out).string()});
    return command;
}

// A picture of another size is placed at the top left.
std::string placed(const Pixels& pixels, const VideoSize& size) {
    std::string bytes;
    bytes.reserve(size_t(size.wide) * size_t(size.high) * 3);
    for (int row = 0; row < size.high; ++row)
        for (int column = 0; column < size.wide; ++column) {
            const bool inside = row < pixels.high && column < pixels.wide;
            const uint8_t* const rgb =
                inside ? &pixels.rgb[(size_t(row) * size_t(pixels.wide) + size_t(column)) * 3]
                       : paper.data();
            bytes.append(rgb, rgb + 3);
        }
    return bytes;
}

std::string last_line(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.remove_suffix(1);
    const size_t end = text.find_last_of("\r\n");
    return printable(text.substr(end == text.npos ? 0 : end + 1));
}

// What ffmpeg says of its end, or how it ended without a word.
std::string reason_of(const ProcessResult& result) {
    const std::string said = last_line(result.output);
    if (!said.empty()) return "ffmpeg: " + said;
    return result.status > 128
               ? std::string("ffmpeg was ended by a signal: ") + ::strsignal(result.status - 128)
               : "ffmpeg ended with status " + std::to_string(result.status);
}

void require_success(const fs::path& path, const ProcessResult& result, bool took_all) {
    if (result.status != 0) throw Error(path.string(), reason_of(result));
    if (!took_all) throw Error(path.string(), "ffmpeg ended before it had all pictures");
}

}

void require_ffmpeg(const fs::path& video) {
    if (find_program("ffmpeg").empty())
        throw Error(video.string(), "a video needs the program ffmpeg, which is not on PATH",
                    "install it, for example with 'apt install ffmpeg'; .gif and .png need none");
}

void write_video(const fs::path& path, const std::string& kind, RecordingFrames& frames,
                 const std::vector<size_t>& episodes, const PictureSettings& settings) {
    require_ffmpeg(path);
    const VideoSize size = video_size(frames, episodes, settings.pixels);
    const PrivateOutput file(path);
    bool took_all = true;
    const auto feed_all = [&](const Feed& feed) {
        each_frame(frames, episodes, [&](const DisplayList& list, bool last) {
            const std::string picture = placed(rasterised(list, settings.pixels), size);
            // The last one stays for a second, as in a GIF.
            for (int times = last ? settings.fps : 1; times > 0 && took_all; --times)
                took_all = feed(picture);
            return took_all;    // false: why, ffmpeg says when it ends
        });
    };
    const ProcessResult result = run_fed_process(
        ffmpeg_command(kind, size, settings.fps, file.path()), feed_all, file.folder().string());
    require_success(path, result, took_all);
    file.take_place();
}

}
