#include "engine/view/svg.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

template <class Paint> std::string svg_of(Paint paint, int pixels = 100) {
    Painter painter;
    Canvas canvas = painter.canvas();
    paint(canvas);
    return svg_text(painter.take("test"), "a <title> & more", pixels);
}

}

TEST_CASE("each shape is an element, y grows upwards, and the view fills the picture") {
    const std::string text = svg_of([](Canvas& canvas) {
        canvas.view(0, 0, 10, 5);
        canvas.disc(5, 5, 1, {255, 0, 16});
        canvas.ring(5, 0, 1, colours::black, 0.5f);
        canvas.box(10, 5, 5, 2.5f, {0, 0, 0, 51});
        canvas.line(0, 0, 10, 5);
        canvas.polygon({0, 0, 1, 0, 1, 1});
        canvas.text(5, 2.5f, "x < \"y\" & \x01\xff\xc3\xb6", colours::black, 1);
    });
    for (const char* const part :
         {"width=\"100\" height=\"50\"", "<title>a &lt;title&gt; &amp; more</title>",
          "<circle cx=\"50\" cy=\"0\" r=\"10\" fill=\"#ff0010\"/>",
          "<circle cx=\"50\" cy=\"50\" r=\"10\" fill=\"none\"", "stroke-width=\"5\"",
          "<rect x=\"50\" y=\"0\" width=\"50\" height=\"25\" fill=\"#000000\" "
          "fill-opacity=\"0.2\" shape-rendering=",
          "<line x1=\"0\" y1=\"50\" x2=\"100\" y2=\"0\"", "stroke-width=\"1\"",
          "<polygon points=\"0,50 10,50 10,40\"",
          ">x &lt; &quot;y&quot; &amp; \\x01\ufffd\u00f6</text>"})
        CHECK_MESSAGE(contains(text, part), part << " is not in\n" << text);
    CHECK(text.ends_with("</svg>\n"));
}

TEST_CASE("a view whose bottom is above its top has y grow downwards") {
    const std::string text = svg_of([](Canvas& canvas) {
        canvas.view(0, 10, 10, 0);
        canvas.disc(1, 2, 1);
    });
    CHECK(contains(text, "<circle cx=\"10\" cy=\"20\" r=\"10\""));
}

TEST_CASE("the same list gives the same bytes") {
    const auto paint = [](Canvas& canvas) {
        for (int i = 0; i < 50; ++i) canvas.disc(float(i) / 3, float(i * i) / 7, 1);
    };
    CHECK(svg_of(paint) == svg_of(paint));
}
