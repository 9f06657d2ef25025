#pragma once
#include <nacelle/platform.h>

namespace nacelle {

struct Colour {
    uint8_t red, green, blue;
};
namespace colours {
inline constexpr Colour black{20, 20, 20}, white{245, 245, 245}, grey{140, 140, 140},
    red{214, 69, 65}, green{63, 160, 90}, blue{60, 110, 200}, yellow{230, 180, 40},
    orange{230, 126, 34}, purple{140, 80, 170};
}

// What draw() paints on, in the author's own coordinates. draw() runs on the host only, from copies
// of the arrays; a device build declares the functions and never calls them.
class Canvas {
public:
    enum class Shape : int32_t { view, disc, line, box, text };
    using Put = void (*)(void* sink, Shape, const float* numbers, int count, Colour,
                         const char* text);

    Canvas(void* sink, Put put) : sink_(sink), put_(put) {}

    void view(float left, float bottom, float right, float top) {
        const float n[]{left, bottom, right, top};
        put_(sink_, Shape::view, n, 4, colours::black, "");
    }
    void disc(float x, float y, float radius, Colour c = colours::black) {
        const float n[]{x, y, radius};
        put_(sink_, Shape::disc, n, 3, c, "");
    }
    void line(float x0, float y0, float x1, float y1, Colour c = colours::black,
              float width = 0.02f) {
        const float n[]{x0, y0, x1, y1, width};
        put_(sink_, Shape::line, n, 5, c, "");
    }
    void box(float left, float bottom, float right, float top, Colour c = colours::black) {
        const float n[]{left, bottom, right, top};
        put_(sink_, Shape::box, n, 4, c, "");
    }
    void text(float x, float y, const char* words, Colour c = colours::black) {
        const float n[]{x, y};
        put_(sink_, Shape::text, n, 2, c, words);
    }

private:
    void* sink_;
    Put put_;
};

}
