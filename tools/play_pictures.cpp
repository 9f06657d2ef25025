// Recordings as pictures: PNG by libpng, and GIF by giflib.
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tools/play_export.h"
#include "tools/play_frames.h"
#include "tools/play_raster.h"

#include <algorithm>
#include <array>
#include <gif_lib.h>
#include <map>
#include <memory>
#include <png.h>

namespace nacelle::tools {
namespace {

std::string png_bytes(const Pixels& pixels, const std::filesystem::path& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = png_uint_32(pixels.wide);
    image.height = png_uint_32(pixels.high);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string bytes(size, '\0');
    if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.rgb.data(), 0, nullptr))
        throw Error(path.string(), std::string("libpng: ") + image.message);
    bytes.resize(size);
    return bytes;
}

// The palette of all pictures: the most frequent colours; every other colour maps to the nearest one. Drawings have
// few colours, and blends at antialiased edges.
class Palette final {
public:
    static constexpr size_t most = 256;

    void count(const Pixels& pixels) {
        for (size_t i = 0; i < pixels.rgb.size(); i += 3) ++seen_[key(&pixels.rgb[i])];
    }
    void choose() {
        std::vector<std::pair<uint64_t, uint32_t>> by_count;
        for (const auto& [colour, count] : seen_) by_count.emplace_back(count, colour);
        std::sort(by_count.rbegin(), by_count.rend());
        by_count.resize(std::min(by_count.size(), most));
        for (const auto& [count, colour] : by_count) colours_.push_back(colour);
        seen_.clear();
    }
    uint8_t index(const uint8_t* rgb) {
        const auto [found, fresh] = near_.try_emplace(key(rgb), uint8_t(0));
        if (fresh) found->second = nearest(found->first);
        return found->second;
    }
    const std::vector<uint32_t>& colours() const { return colours_; }

private:
    static uint32_t key(const uint8_t* rgb) {
        return uint32_t(rgb[0]) << 16 | uint32_t(rgb[1]) << 8 | rgb[2];
    }
    uint8_t nearest(uint32_t colour) const {
        size_t best = 0;
        int least = 1 << 30;
        for (size_t i = 0; i < colours_.size(); ++i) {
            int distance = 0;
            for (const int shift : {0, 8, 16}) {
                const int by = int(colour >> shift & 255) - int(colours_[i] >> shift & 255);
                distance += by * by;
            }
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
        return uint8_t(best);
    }

    std::map<uint32_t, uint64_t> seen_;
    std::map<uint32_t, uint8_t> near_;
    std::vector<uint32_t> colours_;
};

int append(GifFileType* gif, const GifByteType* bytes, int count) {
    static_cast<std::string*>(gif->UserData)
        ->append(reinterpret_cast<const char*>(bytes), size_t(count));
    return count;
}

class Gif final {
public:
    Gif(std::string where, int wide, int high, const Palette& palette)
        : where_(std::move(where)), wide_(wide), high_(high), last_(size_t(wide) * size_t(high)) {
        int error = 0;
        gif_ = EGifOpen(&bytes_, append, &error);
        if (!gif_) throw Error(where_, std::string("giflib: ") + GifErrorString(error));
        EGifSetGifVersion(gif_, true);
        std::array<GifColorType, Palette::most> colours{};
        for (size_t i = 0; i < palette.colours().size(); ++i) {
            const uint32_t c = palette.colours()[i];
            colours[i] = {GifByteType(c >> 16), GifByteType(c >> 8), GifByteType(c)};
        }
        const std::unique_ptr<ColorMapObject, void (*)(ColorMapObject*)> map(
            GifMakeMapObject(int(colours.size()), colours.data()), GifFreeMapObject);
        require(EGifPutScreenDesc(gif_, wide, high, 8, 0, map.get()));
        // Endless: the extension that all browsers support.
        const std::array<uint8_t, 3> for_ever{1, 0, 0};
        require(EGifPutExtensionLeader(gif_, APPLICATION_EXT_FUNC_CODE));
        require(EGifPutExtensionBlock(gif_, 11, "NETSCAPE2.0"));
        require(EGifPutExtensionBlock(gif_, int(for_ever.size()), for_ever.data()));
        require(EGifPutExtensionTrailer(gif_));
    }
    ~Gif() {
        if (gif_) EGifCloseFile(gif_, nullptr);
    }
    Gif(const Gif&) = delete;
    Gif& operator=(const Gif&) = delete;

    // Writes the part that differs from the previous picture, which is shown for `hundredths` of a second.
    void add(const std::vector<uint8_t>& picture, int hundredths) {
        const std::array<int, 4> part = first_ ? std::array{0, 0, wide_, high_} : changed(picture);
        const auto [left, top, right, bottom] = part;
        const GraphicsControlBlock control{
            .DisposalMode = DISPOSE_DO_NOT, .DelayTime = hundredths, .TransparentColor = -1};
        std::array<GifByteType, 4> block{};
        EGifGCBToExtension(&control, block.data());
        require(EGifPutExtension(gif_, GRAPHICS_EXT_FUNC_CODE, int(block.size()), block.data()));
        require(EGifPutImageDesc(gif_, left, top, right - left, bottom - top, false, nullptr));
        for (int row = top; row < bottom; ++row) {
            std::vector<uint8_t> line(picture.begin() + row * wide_ + left,
                                      picture.begin() + row * wide_ + right);
            require(EGifPutLine(gif_, line.data(), int(line.size())));
        }
        last_ = picture;
        first_ = false;
    }
    std::string take() {
        int error = 0;
        if (EGifCloseFile(std::exchange(gif_, nullptr), &error) != GIF_OK)
            throw Error(where_, std::string("giflib: ") + GifErrorString(error));
        return std::move(bytes_);
    }

private:
    void require(int status) const {
        if (status != GIF_OK)
            throw Error(where_, std::string("giflib: ") + GifErrorString(gif_->Error));
    }
    // Left, top, right and bottom of the difference; one pixel where there is none.
    std::array<int, 4> changed(const std::vector<uint8_t>& picture) const {
        std::array<int, 4> part{wide_, high_, 0, 0};
        for (int row = 0; row < high_; ++row)
            for (int column = 0; column < wide_; ++column) {
                const size_t at = size_t(row) * size_t(wide_) + size_t(column);
                if (picture[at] == last_[at]) continue;
                part = {std::min(part[0], column), std::min(part[1], row),
                        std::max(part[2], column + 1), std::max(part[3], row + 1)};
            }
        return part[0] < part[2] ? part : std::array{0, 0, 1, 1};
    }

    std::string where_, bytes_;
    int wide_, high_;
    std::vector<uint8_t> last_;
    bool first_ = true;
    GifFileType* gif_ = nullptr;
};

}

void write_png(const std::filesystem::path& path, const DisplayList& picture, int pixels) {
    write_file(path, png_bytes(rasterised(picture, pixels), path));
}

void write_png(const std::filesystem::path& path, RecordingFrames& frames, size_t episode,
               uint64_t step, const PictureSettings& settings) {
    write_png(path, frames.frame(episode, step), settings.pixels);
}

// Renders all steps twice, so that the palette fits all pictures and none need be stored.
void write_gif(const std::filesystem::path& path, RecordingFrames& frames,
               const std::vector<size_t>& episodes, const PictureSettings& settings) {
    Palette palette;
    int wide = 0, high = 0;
    each_frame(frames, episodes, [&](const DisplayList& list, bool) {
        const Pixels pixels = rasterised(list, settings.pixels);
        palette.count(pixels);
        wide = std::max(wide, pixels.wide);
        high = std::max(high, pixels.high);
        return true;
    });
    palette.choose();
    Gif gif(path.string(), wide, high, palette);
    const int pause = std::max(2, 100 / settings.fps), at_end = 100;
    each_frame(frames, episodes, [&](const DisplayList& list, bool last) {
        const Pixels pixels = rasterised(list, settings.pixels);
        // A picture of another size is placed at the top left.
        std::vector<uint8_t> picture(size_t(wide) * size_t(high));
        for (int row = 0; row < pixels.high; ++row)
            for (int column = 0; column < pixels.wide; ++column)
                picture[size_t(row) * size_t(wide) + size_t(column)] = palette.index(
                    &pixels.rgb[(size_t(row) * size_t(pixels.wide) + size_t(column)) * 3]);
        gif.add(picture, last ? at_end : pause);
        return true;
    });
    write_file(path, gif.take());
}

}
