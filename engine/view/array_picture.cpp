#include "engine/view/array_picture.h"

#include <algorithm>
#include <cmath>

namespace nacelle {
namespace {

// In units of a line of text; y grows downwards.
constexpr float name_width = 12, bar_width = 20, gap = 0.6f, image_side = 20;
constexpr size_t most_lines = 60, lines_of_one = 12;

bool is_image(const Field& field) {
    return field.role == Role::obs && field.kind == Kind::array && field.rank >= 2 &&
           field.dims[0] > 1 && field.dims[1] > 1 && field.count <= 128 * 128 * 4;
}
bool is_listed(const Field& field) {
    switch (field.role) {
        case Role::state:
        case Role::agent:
        case Role::action:
        case Role::reward: return true;
        case Role::obs: return field.kind != Kind::array;
        default: return false;
    }
}

// The smallest and the largest of some numbers and 0; ignores numbers that are not finite.
struct Span {
    double low = 0, high = 0;
    void take(double value) {
        if (!std::isfinite(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    float share(double value) const { return high > low ? float((value - low) / (high - low)) : 0; }
};

class ArrayPicture final {
public:
    explicit ArrayPicture(const Scene& scene) : scene_(scene), canvas_(painter_.canvas()) {}

    DisplayList take() {
        for (const Scene::Part& part : scene_.parts)
            if (is_image(part.field)) image(part);
        for (const Scene::Part& part : scene_.parts)
            if (is_listed(part.field)) bars(part);
        if (left_out_)
            label(("and " + std::to_string(left_out_) + " more numbers").c_str(), line_++);
        const float high = std::max(line_ + 1, 8.0f);
        canvas_.view(0, high, name_width + bar_width + 8, 0);
        return painter_.take(scene_.name);
    }

private:
    void label(const char* words, float y) {
        canvas_.text(name_width / 2, y + 0.5f, words, colours::black, 0.7f);
    }

    // The first agent's image. Three or four channels are colours, otherwise the first one is shown in grey.
    void image(const Scene::Part& part) {
        const Field& field = part.field;
        const uint32_t high = field.dims[0], wide = field.dims[1],
                       channels = field.rank > 2 ? field.count / high / wide : 1;
        Span span;
        for (size_t i = 0; i < field.count; ++i) span.take(scene_.number(part, 0, i));
        const float cell = image_side / float(std::max(high, wide));
        label(field.name, line_);
        for (uint32_t row = 0; row < high; ++row)
            for (uint32_t column = 0; column < wide; ++column) {
                const auto shade = [&](uint32_t channel) {
                    const size_t at = (size_t(row) * wide + column) * channels + channel;
                    return uint8_t(255 * span.share(scene_.number(part, 0, at)));
                };
                const bool coloured = channels == 3 || channels == 4;
                const Colour c{shade(0), shade(coloured ? 1 : 0), shade(coloured ? 2 : 0)};
                const float x = name_width + float(column) * cell, y = line_ + float(row) * cell;
                canvas_.box(x, y, x + cell, y + cell, c);
            }
        line_ += float(high) * cell + gap;
    }

    // A line for each element, with a narrow bar for each agent.
    void bars(const Scene::Part& part) {
        Span span;
        for (size_t row = 0; row < part.rows; ++row)
            for (size_t k = 0; k < part.field.count; ++k) span.take(scene_.number(part, row, k));
        for (size_t k = 0; k < part.field.count; ++k) {
            if (k >= lines_of_one || lines_ >= most_lines) {
                left_out_ += (part.field.count - k) * part.rows;
                break;
            }
            std::string words = part.field.name;
            if (part.field.count > 1) words += "[" + std::to_string(k) + "]";
            label(words.c_str(), line_);
            line(part, k, span);
            line_ += 1;
            ++lines_;
        }
        line_ += gap / 2;
    }
    void line(const Scene::Part& part, size_t k, const Span& span) {
        const size_t shown = std::min<size_t>(part.rows, 64);
        const float zero = name_width + bar_width * span.share(0), high = 0.8f / float(shown);
        for (size_t row = 0; row < shown; ++row) {
            const double value = scene_.number(part, row, k);
            const float end = name_width + bar_width * span.share(value),
                        y = line_ + 0.1f + float(row) * high;
            canvas_.box(zero, y, std::isfinite(value) ? end : NAN, y + high,
                        value < 0 ? colours::orange : colours::blue);
        }
        left_out_ += part.rows - shown;
        canvas_.line(zero, line_ + 0.05f, zero, line_ + 0.95f, colours::grey);
        if (part.rows == 1)
            canvas_.number(name_width + bar_width + 4, line_ + 0.5f,
                           float(scene_.number(part, 0, k)), colours::black, 0.7f);
    }

    const Scene& scene_;
    Painter painter_;
    Canvas canvas_;
    float line_ = 0.5f;
    size_t lines_ = 0, left_out_ = 0;
};

}

DisplayList picture_of_arrays(const Scene& scene) { return ArrayPicture(scene).take(); }

}
