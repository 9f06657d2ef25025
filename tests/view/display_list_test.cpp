#include "engine/view/display_list.h"
#include "tests/env/workbench.h"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using namespace nacelle;
using namespace nacelle::test;

TEST_CASE("shapes are kept in order with their numbers, colours and words") {
    Painter painter;
    Canvas canvas = painter.canvas();
    canvas.view(-1, -2, 3, 4);
    canvas.disc(0, 1, 2, colours::red);
    canvas.polygon({0, 0, 1, 0, 1, 1}, faded(colours::blue, 0.5f));
    canvas.text(1, 1, "a word");
    canvas.number(2, 2, 0.25f);
    const DisplayList list = painter.take("test");
    CHECK(list.left == -1);
    CHECK(list.bottom == -2);
    CHECK(list.right == 3);
    CHECK(list.top == 4);
    REQUIRE(list.shapes.size() == 4);
    CHECK(list.shapes[0].form == Canvas::Form::disc);
    CHECK(list.shapes[0].colour.red == colours::red.red);
    const auto disc = list.numbers_of(list.shapes[0]);
    CHECK(std::vector<float>(disc.begin(), disc.end()) == std::vector<float>{0, 1, 2});
    CHECK(list.numbers_of(list.shapes[1]).size() == 6);
    CHECK(list.shapes[1].colour.alpha == 128);
    CHECK(list.text_of(list.shapes[2]) == "a word");
    CHECK(list.text_of(list.shapes[3]) == "0.25");
    CHECK(list.dropped == 0);
}

TEST_CASE("without a view all that was painted is seen") {
    Painter painter;
    Canvas canvas = painter.canvas();
    canvas.disc(10, 20, 5);
    canvas.box(0, 0, 1, 1);
    const DisplayList list = painter.take("test");
    CHECK(list.left < 0);
    CHECK(list.bottom < 0);
    CHECK(list.right > 15);
    CHECK(list.top > 25);
    Painter nothing;
    CHECK(nothing.take("test").shapes.empty());
}

TEST_CASE("what is not finite is left out and counted") {
    Painter painter;
    Canvas canvas = painter.canvas();
    canvas.disc(NAN, 0, 1);
    canvas.line(0, 0, INFINITY, 1);
    canvas.view(0, NAN, 1, 1);
    canvas.number(0, 0, -INFINITY);
    canvas.disc(0, 0, 1);
    const DisplayList list = painter.take("test");
    CHECK(list.shapes.size() == 1);
    CHECK(list.dropped == 4);
    CHECK(list.left == doctest::Approx(-1.1));    // the view that could not be used counts for none
}

TEST_CASE("a picture that is too large is refused in one sentence, and the next one is not") {
    Painter painter;
    Canvas canvas = painter.canvas();
    for (size_t i = 0; i <= DisplayList::most_shapes; ++i) canvas.disc(0, 0, 1);
    CHECK(complaint([&] { painter.take("pond"); }) ==
          "pond: draw() paints too much for one picture (at most 200000 shapes, 2000000 "
          "coordinates and 1000000 letters)");
    canvas.disc(0, 0, 1);
    CHECK(painter.take("pond").shapes.size() == 1);
    const std::string words(10000, 'a');
    canvas.text(0, 0, words.c_str());
    CHECK(painter.take("pond").letters.size() == DisplayList::letters_of_one);
}

TEST_CASE("a view without an area is refused") {
    Painter painter;
    painter.canvas().view(1, 0, 1, 5);
    CHECK(contains(complaint([&] { painter.take("pond"); }),
                   "pond: draw() shows an area of 0.000000 by 5.000000"));
    // Upside down is a view: y then grows downwards.
    painter.canvas().view(0, 5, 5, 0);
    CHECK(painter.take("pond").top == 0);
}

TEST_CASE("colours are mixed by their share") {
    constexpr Colour half = mix({0, 0, 0}, {200, 100, 50, 55}, 0.5f);
    static_assert(half.red == 100 && half.green == 50 && half.blue == 25 && half.alpha == 155);
    CHECK(mix(colours::red, colours::blue, -3).red == colours::red.red);
    CHECK(mix(colours::red, colours::blue, 7).red == colours::blue.red);
    CHECK(mix(colours::red, colours::blue, NAN).red == colours::red.red);
    CHECK(faded(colours::red, 0).alpha == 0);
    CHECK(faded(colours::red, 1).alpha == 255);
}
