// Display lists as pixels, by Anti-Grain Geometry: a reader of the list as svg.cpp is.
#include "tools/play_raster.h"

#include "engine/view/viewport.h"

#include <agg_conv_stroke.h>
#include <agg_ellipse.h>
#include <agg_gsv_text.h>
#include <agg_path_storage.h>
#include <agg_pixfmt_rgb.h>
#include <agg_rasterizer_scanline_aa.h>
#include <agg_renderer_base.h>
#include <agg_renderer_scanline.h>
#include <agg_rendering_buffer.h>
#include <agg_scanline_u.h>
#include <algorithm>
#include <cmath>

// A false warning of GCC: inlined, these headers seem to lack the path that sets the numbers.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace nacelle::tools {
namespace {

agg::rgba8 rgba(Colour c) { return {c.red, c.green, c.blue, c.alpha}; }

class Raster final {
public:
    Raster(const DisplayList& list, int pixels) : list_(list), viewport_(list, pixels) {
        pixels_.wide = int(viewport_.wide);
        pixels_.high = int(viewport_.high);
        pixels_.rgb.resize(size_t(pixels_.wide) * size_t(pixels_.high) * 3);
        buffer_.attach(pixels_.rgb.data(), unsigned(pixels_.wide), unsigned(pixels_.high),
                       pixels_.wide * 3);
        base_.reset_clipping(true);    // it was made before there was a picture
    }

    Pixels take() {
        base_.clear(agg::rgba8(paper[0], paper[1], paper[2]));
        for (const Shape& shape : list_.shapes) paint(shape, list_.numbers_of(shape));
        return std::move(pixels_);
    }

private:
    // Outside this range nothing is visible, and the rasteriser's integers would overflow.
    static double kept(double at) { return std::clamp(at, -1e5, 1e5); }
    double x(double at) const { return kept(viewport_.x(at)); }
    double y(double at) const { return kept(viewport_.y(at)); }
    double length(double of) const { return kept(viewport_.length(of)); }
    double line_width(double asked) const { return kept(viewport_.line_width(asked)); }

    template <class Path> void fill(Path& path, Colour c) {
        rasteriser_.reset();
        rasteriser_.add_path(path);
        agg::render_scanlines_aa_solid(rasteriser_, scanline_, base_, rgba(c));
    }
    template <class Path> void stroke(Path& path, Colour c, double width) {
        agg::conv_stroke<Path> outline(path);
        outline.width(width);
        outline.line_cap(agg::round_cap);
        outline.line_join(agg::round_join);
        fill(outline, c);
    }

    void paint(const Shape& shape, std::span<const float> n) {
        using Form = Canvas::Form;
        const Colour c = shape.colour;
        switch (shape.form) {
            case Form::view: return;
            case Form::disc:
            case Form::ring: {
                agg::ellipse circle(x(n[0]), y(n[1]), length(n[2]), length(n[2]));
                circle.approximation_scale(2);
                if (shape.form == Form::disc) fill(circle, c);
                else stroke(circle, c, line_width(n[3]));
                return;
            }
            case Form::line: {
                agg::path_storage path;
                path.move_to(x(n[0]), y(n[1]));
                path.line_to(x(n[2]), y(n[3]));
                stroke(path, c, line_width(n[4]));
                return;
            }
            case Form::box: return box(n, c);
            case Form::polygon: {
                agg::path_storage path;
                for (size_t i = 0; i + 1 < n.size(); i += 2)
                    if (i == 0) path.move_to(x(n[0]), y(n[1]));
                    else path.line_to(x(n[i]), y(n[i + 1]));
                path.close_polygon();
                fill(path, c);
                return;
            }
            case Form::text:
            case Form::number: return letters(shape, n, c);
        }
    }
    // Whole pixels: without antialiasing adjacent boxes leave no gap.
    void box(std::span<const float> n, Colour c) {
        const auto at = [](double place) { return int(std::round(place)); };
        const int left = at(std::min(x(n[0]), x(n[2]))), right = at(std::max(x(n[0]), x(n[2]))),
                  high = at(std::min(y(n[1]), y(n[3]))), low = at(std::max(y(n[1]), y(n[3])));
        if (left < right && high < low)
            base_.blend_bar(left, high, right - 1, low - 1, rgba(c), agg::cover_full);
    }
    void letters(const Shape& shape, std::span<const float> n, Colour c) {
        const double size = kept(viewport_.letter_size(n[2]));
        std::string words(list_.text_of(shape));
        for (char& letter : words)
            if (letter < ' ' || letter > '~') letter = '?';    // the strokes are those of ASCII
        agg::gsv_text text;
        text.flip(true);
        text.size(0.7 * size);
        text.text(words.c_str());
        const double before = shape.anchor(n) < 0 ? 0 : shape.anchor(n) > 0 ? 1 : 0.5;
        text.start_point(x(n[0]) - before * text.text_width(), y(n[1]) + 0.35 * size);
        stroke(text, c, std::max(1.0, 0.09 * size));
    }

    const DisplayList& list_;
    Viewport viewport_;
    Pixels pixels_;
    agg::rendering_buffer buffer_;
    agg::pixfmt_rgb24 format_{buffer_};
    agg::renderer_base<agg::pixfmt_rgb24> base_{format_};
    agg::rasterizer_scanline_aa<> rasteriser_;
    agg::scanline_u8 scanline_;
};

}

Pixels rasterised(const DisplayList& list, int pixels) { return Raster(list, pixels).take(); }

}
