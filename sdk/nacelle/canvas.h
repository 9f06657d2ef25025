#pragma once
#include <nacelle/platform.h>

namespace nacelle {

// Red, green and blue from 0 to 255; alpha 0 is not seen at all, 255 hides what is behind it.
struct Colour {
    uint8_t red, green, blue, alpha = 255;
};
namespace colours {
inline constexpr Colour black{32, 36, 42}, white{255, 255, 255}, grey{158, 164, 172},
    red{208, 68, 62}, green{72, 158, 96}, blue{58, 112, 196}, yellow{236, 190, 66},
    orange{228, 130, 46}, purple{140, 88, 170};
}

// The first colour at share 0, the second at 1, what lies between them in between.
constexpr Colour mix(Colour a, Colour b, float share) {
    const float t = share > 0.0f ? (share < 1.0f ? share : 1.0f) : 0.0f;    // NaN is 0
    const auto between = [t](uint8_t x, uint8_t y) {
        return uint8_t(float(x) + (float(y) - float(x)) * t + 0.5f);
    };
    return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue),
            between(a.alpha, b.alpha)};
}
// The same colour, so much of it: 0.5f lets half of what is behind it through.
constexpr Colour faded(Colour c, float share) { return mix({c.red, c.green, c.blue, 0}, c, share); }

// What draw() paints on, in the author's own coordinates, later shapes over earlier ones. draw() runs
// on the host only, from copies of the arrays; a GPU's build declares these functions and never calls
// them.
class Canvas {
public:
    enum class Form : int32_t { view, disc, ring, line, box, polygon, text, number };
    using Put = void (*)(void* sink, Form, const float* numbers, int count, Colour,
                         const char* text);

    Canvas(void* sink, Put put);

    // What part of the plane is seen; the whole of what is painted where nobody says. Where bottom is
    // above top, y grows downwards.
    void view(float left, float bottom, float right, float top);

    void disc(float x, float y, float radius, Colour c = colours::black);
    void box(float left, float bottom, float right, float top, Colour c = colours::black);
    // Three to 32 corners: x0, y0, x1, y1, ...
    template <int N> void polygon(const float (&corners)[N], Colour c = colours::black) {
        static_assert(N % 2 == 0 && N >= 6 && N <= 64,
                      "a polygon has 3 to 32 corners, x and y of each");
        put(Form::polygon, corners, N, c);
    }
    // A width of 0 is a thin line at any scale.
    void line(float x0, float y0, float x1, float y1, Colour c = colours::black, float width = 0);
    void ring(float x, float y, float radius, Colour c = colours::black, float width = 0);
    // In the middle of (x, y). A height of 0 is a letter that can be read at any scale.
    void text(float x, float y, const char* words, Colour c = colours::black, float height = 0);
    void number(float x, float y, float value, Colour c = colours::black, float height = 0);

private:
    void put(Form form, const float* numbers, int count, Colour c, const char* text = "");

    void* sink_;
    Put put_;
};

#if !defined(__CUDACC_RTC__)
inline Canvas::Canvas(void* sink, Put put) : sink_(sink), put_(put) {}
inline void Canvas::put(Form form, const float* numbers, int count, Colour c, const char* text) {
    put_(sink_, form, numbers, count, c, text);
}
inline void Canvas::view(float left, float bottom, float right, float top) {
    const float n[]{left, bottom, right, top};
    put(Form::view, n, 4, colours::black);
}
inline void Canvas::disc(float x, float y, float radius, Colour c) {
    const float n[]{x, y, radius};
    put(Form::disc, n, 3, c);
}
inline void Canvas::box(float left, float bottom, float right, float top, Colour c) {
    const float n[]{left, bottom, right, top};
    put(Form::box, n, 4, c);
}
inline void Canvas::line(float x0, float y0, float x1, float y1, Colour c, float width) {
    const float n[]{x0, y0, x1, y1, width};
    put(Form::line, n, 5, c);
}
inline void Canvas::ring(float x, float y, float radius, Colour c, float width) {
    const float n[]{x, y, radius, width};
    put(Form::ring, n, 4, c);
}
inline void Canvas::text(float x, float y, const char* words, Colour c, float height) {
    const float n[]{x, y, height};
    put(Form::text, n, 3, c, words);
}
inline void Canvas::number(float x, float y, float value, Colour c, float height) {
    const float n[]{x, y, height, value};
    put(Form::number, n, 4, c);
}
#endif

}
