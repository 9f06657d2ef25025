#include "tools/plot_picture.h"

#include "tools/plot_axis.h"

#include <array>
#include <cmath>

namespace nacelle::tools {
namespace {

// In units of which the picture is `width` wide; y grows downwards.
constexpr float width = 800, left = 74, right = 776, top = 20;
constexpr float panel_height = 300, title_height = 30, panel_gap = 34, axis_height = 60;
constexpr float legend_row = 22, letter = 14, small_letter = 13;
constexpr float line_width = 2.2f, grid_width = 1;

constexpr Colour ink{52, 56, 62}, faint{222, 220, 213}, frame{150, 150, 146};
// Okabe's and Ito's colours, which people with any kind of colour blindness tell apart; the light ones darker, for
// thin lines on light paper.
constexpr std::array<Colour, 7> palette{{{0, 114, 178},
                                         {213, 94, 0},
                                         {0, 148, 108},
                                         {190, 100, 150},
                                         {224, 150, 0},
                                         {70, 160, 215},
                                         {60, 60, 60}}};
constexpr uint8_t band_alpha = 52;
constexpr float dash = 9, dash_gap = 6;

enum class Anchor { begin = -1, middle = 0, end = 1 };

struct Place {
    float x, y;
};

float distance_to(Place at, Place a, Place b) {
    const float wide = b.x - a.x, high = b.y - a.y, length = std::hypot(wide, high);
    if (length == 0) return std::hypot(at.x - a.x, at.y - a.y);
    return std::abs(wide * (at.y - a.y) - high * (at.x - a.x)) / length;
}

// The same line with fewer corners: none is off it by what an eye could see.
std::vector<Place> simplified(const std::vector<Place>& places) {
    constexpr float invisible = 0.15f;
    std::vector<Place> kept;
    for (size_t i = 0; i < places.size();) {
        kept.push_back(places[i]);
        size_t end = i + 1;
        const auto is_straight = [&](size_t to) {
            for (size_t k = i + 1; k < to; ++k)
                if (distance_to(places[k], places[i], places[to]) > invisible) return false;
            return true;
        };
        while (end + 1 < places.size() && is_straight(end + 1)) ++end;
        i = end;
    }
    return kept;
}

class Plot final {
public:
    Plot(const std::vector<PlotPanel>& panels, Abscissa abscissa)
        : panels_(panels), abscissa_(abscissa) {}
    DisplayList draw();

private:
    void draw_panel(const PlotPanel& panel, float high, bool last);
    void draw_values(const PlotAxis& y, float high);
    void draw_abscissa(float high, bool with_numbers);
    void draw_band(const Curve& curve, Colour colour, const PlotAxis& y, float high);
    void draw_line(const std::vector<Place>& places, size_t index);
    void draw_legend(float high);
    void line(Place a, Place b, Colour colour, float wide) {
        painter_.canvas().line(a.x, a.y, b.x, b.y, colour, wide);
    }
    void text(float x, float y, const std::string& words, Anchor anchor, float size = letter) {
        const float numbers[]{x, y, size, float(anchor)};
        Painter::put(&painter_, Canvas::Form::text, numbers, 4, ink, words.c_str());
    }
    float x_of(double x) const {
        return left + (right - left) * float((x - x_.low()) / (x_.high() - x_.low()));
    }
    static float y_of(double y, const PlotAxis& axis, float high) {
        return high + panel_height * float((axis.high() - y) / (axis.high() - axis.low()));
    }

    const std::vector<PlotPanel>& panels_;
    Abscissa abscissa_;
    PlotAxis x_;
    Painter painter_;
};

DisplayList Plot::draw() {
    PlotRange range;
    for (const PlotPanel& panel : panels_)
        for (const Curve& curve : panel.curves)
            for (const double x : curve.x) range.take(x);
    range.take(0);
    x_ = PlotAxis::exactly(range);
    float high = top;
    for (const PlotPanel& panel : panels_) {
        const bool last = &panel == &panels_.back();
        high += title_height;
        draw_panel(panel, high, last);
        high += panel_height + (last ? axis_height : panel_gap);
    }
    draw_legend(high);
    const float rows = float(panels_.front().curves.size());
    painter_.canvas().view(0, high + rows * legend_row + 14, width, 0);
    return painter_.take("plot");
}

void Plot::draw_panel(const PlotPanel& panel, float high, bool last) {
    PlotRange range;
    for (const Curve& curve : panel.curves)
        for (const std::vector<double>* values : {&curve.mean, &curve.low, &curve.high})
            for (const double value : *values) range.take(value);
    const PlotAxis y = PlotAxis::around(range);
    text(left, high - 16, panel.metric, Anchor::begin, letter + 1);
    draw_values(y, high);
    draw_abscissa(high, last);
    for (size_t i = 0; i < panel.curves.size(); ++i)
        draw_band(panel.curves[i], palette[i % palette.size()], y, high);
    for (size_t i = 0; i < panel.curves.size(); ++i) {
        const Curve& curve = panel.curves[i];
        std::vector<Place> places;
        for (size_t k = 0; k < curve.x.size(); ++k)
            places.push_back({x_of(curve.x[k]), y_of(curve.mean[k], y, high)});
        draw_line(simplified(places), i);
    }
}

void Plot::draw_values(const PlotAxis& y, float high) {
    for (const PlotTick& tick : y.ticks()) {
        const float at = y_of(tick.value, y, high);
        line({left, at}, {right, at}, faint, grid_width);
        text(left - 9, at, tick.text, Anchor::end, small_letter);
    }
}

void Plot::draw_abscissa(float high, bool with_numbers) {
    const float low = high + panel_height;
    line({left, low}, {right, low}, frame, 1.4f);
    for (const PlotTick& tick : x_.ticks()) {
        const float at = x_of(tick.value);
        line({at, low}, {at, low + 5}, frame, 1.4f);
        if (with_numbers) text(at, low + 17, tick.text, Anchor::middle, small_letter);
    }
    if (with_numbers)
        text((left + right) / 2, low + 38,
             abscissa_ == Abscissa::steps ? "steps of all environments" : "seconds of training",
             Anchor::middle);
}

void Plot::draw_band(const Curve& curve, Colour colour, const PlotAxis& y, float high) {
    if (curve.low.empty()) return;
    colour.alpha = band_alpha;
    std::vector<float> corners;
    const auto add = [&](double x, double value) {
        corners.push_back(x_of(x));
        corners.push_back(y_of(value, y, high));
    };
    for (size_t i = 0; i < curve.x.size(); ++i) add(curve.x[i], curve.high[i]);
    for (size_t i = curve.x.size(); i-- > 0;) add(curve.x[i], curve.low[i]);
    Painter::put(&painter_, Canvas::Form::polygon, corners.data(), int(corners.size()), colour, "");
}

void Plot::draw_line(const std::vector<Place>& places, size_t index) {
    const Colour colour = palette[index % palette.size()];
    if (places.size() == 1) painter_.canvas().disc(places[0].x, places[0].y, 3, colour);
    const bool dashed = index >= palette.size();
    float gone = 0;
    for (size_t i = 1; i < places.size(); ++i) {
        const Place a = places[i - 1], b = places[i];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (!dashed) {
            line(a, b, colour, line_width);
            continue;
        }
        // Pieces of the dashes, which go on from one segment to the next.
        for (float at = 0; at < length;) {
            const float phase = std::fmod(gone + at, dash + dash_gap);
            const bool inked = phase < dash;
            const float end =
                std::min(length, at + std::max(0.05f, (inked ? dash : dash + dash_gap) - phase));
            const auto on = [&](float s) {
                return Place{a.x + (b.x - a.x) * s / length, a.y + (b.y - a.y) * s / length};
            };
            if (inked) line(on(at), on(end), colour, line_width);
            at = end;
        }
        gone += length;
    }
}

void Plot::draw_legend(float high) {
    const std::vector<Curve>& curves = panels_.front().curves;
    for (size_t i = 0; i < curves.size(); ++i) {
        const float y = high + (float(i) + 0.5f) * legend_row;
        Colour band = palette[i % palette.size()];
        band.alpha = band_alpha;
        if (!curves[i].low.empty()) painter_.canvas().box(left, y - 7, left + 34, y + 7, band);
        draw_line({{left, y}, {left + 34, y}}, i);
        std::string words = curves[i].name;
        if (curves[i].runs > 1)
            words += ": mean of " + std::to_string(curves[i].runs) + " seeds, 95 % interval";
        text(left + 44, y, words, Anchor::begin);
    }
}

}

DisplayList plot_picture(const std::vector<PlotPanel>& panels, Abscissa abscissa) {
    return Plot(panels, abscissa).draw();
}

}
