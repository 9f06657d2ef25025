#include "engine/view/svg.h"

#include "engine/base/text.h"
#include "engine/view/viewport.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace nacelle {
namespace {

constexpr const char* paper = "#f6f5f1";

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : printable(text)) {
        if (c == '<') safe += "&lt;";
        else if (c == '>') safe += "&gt;";
        else if (c == '&') safe += "&amp;";
        else if (c == '"') safe += "&quot;";
        else if ((unsigned char)(c) < ' ' || c == '\x7f') safe += '?';    // that XML may not have
        else safe += c;
    }
    return safe;
}

// At most two digits after the point.
std::string digits(double x) {
    char text[64];
    x = std::round(x * 100) / 100 + 0.0;    // no -0
    const auto end = std::to_chars(std::begin(text), std::end(text), std::clamp(x, -1e9, 1e9));
    return {text, end.ptr};
}

std::string attribute(const char* name, double value) {
    return std::string(" ") + name + "=\"" + digits(value) + "\"";
}

class Writer final {
public:
    Writer(const DisplayList& list, int pixels) : list_(list), viewport_(list, pixels) {}

    std::string text(const std::string& title) {
        out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", viewport_.wide) +
               attribute("height", viewport_.high) + " viewBox=\"0 0 " + digits(viewport_.wide) +
               " " + digits(viewport_.high) + "\">\n<title>" + escaped(title) +
               "</title>\n<rect width=\"100%\" " + "height=\"100%\" fill=\"" + paper + "\"/>\n";
        for (const Shape& shape : list_.shapes) write(shape, list_.numbers_of(shape));
        return out_ + "</svg>\n";
    }

private:
    double x(double at) const { return viewport_.x(at); }
    double y(double at) const { return viewport_.y(at); }
    double length(double of) const { return viewport_.length(of); }

    static std::string paint(const char* what, Colour c) {
        static const char hex[] = "0123456789abcdef";
        std::string text = std::string(" ") + what + "=\"#";
        for (const uint8_t part : {c.red, c.green, c.blue}) {
            text += hex[part / 16];
            text += hex[part % 16];
        }
        text += '"';
        if (c.alpha < 255)
            text += std::string(" ") + what + "-opacity=\"" + digits(c.alpha / 255.0) + "\"";
        return text;
    }
    static const char* anchor(float side) {
        return side < 0 ? "start" : side > 0 ? "end" : "middle";
    }
    std::string line_paint(Colour c, double width) const {
        return " fill=\"none\"" + paint("stroke", c) +
               attribute("stroke-width", viewport_.line_width(width));
    }

    void write(const Shape& shape, std::span<const float> n) {
        using Form = Canvas::Form;
        const Colour c = shape.colour;
        switch (shape.form) {
            case Form::view: return;
            case Form::disc:
                out_ += "<circle" + attribute("cx", x(n[0])) + attribute("cy", y(n[1])) +
                        attribute("r", length(n[2])) + paint("fill", c) + "/>\n";
                return;
            case Form::ring:
                out_ += "<circle" + attribute("cx", x(n[0])) + attribute("cy", y(n[1])) +
                        attribute("r", length(n[2])) + line_paint(c, n[3]) + "/>\n";
                return;
            case Form::line:
                out_ += "<line" + attribute("x1", x(n[0])) + attribute("y1", y(n[1])) +
                        attribute("x2", x(n[2])) + attribute("y2", y(n[3])) + line_paint(c, n[4]) +
                        " stroke-linecap=\"round\"/>\n";
                return;
            case Form::box: {
                // Without antialiasing adjacent boxes leave no gap.
                const double left = std::min(x(n[0]), x(n[2])), high = std::min(y(n[1]), y(n[3]));
                out_ += "<rect" + attribute("x", left) + attribute("y", high) +
                        attribute("width", std::abs(x(n[2]) - x(n[0]))) +
                        attribute("height", std::abs(y(n[3]) - y(n[1]))) + paint("fill", c) +
                        " shape-rendering=\"crispEdges\"/>\n";
                return;
            }
            case Form::polygon:
                out_ += "<polygon points=\"";
                for (size_t i = 0; i + 1 < n.size(); i += 2)
                    out_ += (i ? " " : "") + digits(x(n[i])) + "," + digits(y(n[i + 1]));
                out_ += "\"" + paint("fill", c) + "/>\n";
                return;
            case Form::text:
            case Form::number: {
                const double size = viewport_.letter_size(n[2]);
                // The middle of a letter is about a third of its size above the baseline.
                out_ += "<text" + attribute("x", x(n[0])) + attribute("y", y(n[1]) + 0.35 * size) +
                        attribute("font-size", size) +
                        " font-family=\"sans-serif\" text-anchor=\"" + anchor(shape.anchor(n)) +
                        "\"" + paint("fill", c) + ">" + escaped(list_.text_of(shape)) + "</text>\n";
                return;
            }
        }
    }

    const DisplayList& list_;
    Viewport viewport_;
    std::string out_;
};

}

std::string svg_text(const DisplayList& list, const std::string& title, int pixels) {
    return Writer(list, pixels).text(title);
}

}
