#pragma once
#include <nacelle/canvas.h>
#include <span>
#include <string>
#include <vector>

namespace nacelle {

// One painted shape. Its numbers are the arguments of Canvas, in order. A text of the engine's own may have a fourth
// one: below 0 it begins at x, above 0 it ends there, else x is its middle.
struct Shape {
    Canvas::Form form;
    Colour colour;
    uint32_t first, count;     // among the list's numbers
    uint32_t text, letters;    // among the list's letters

    float anchor(std::span<const float> its) const {
        return form == Canvas::Form::text && its.size() > 3 ? its[3] : 0;
    }
};

// A picture as data: the painted shapes in order, in the author's coordinates, independent of the renderer.
struct DisplayList {
    static constexpr size_t most_shapes = 200000, most_numbers = 2000000, most_letters = 1000000;
    static constexpr size_t letters_of_one = 400;

    float left = 0, bottom = 0, right = 1, top = 1;    // what is seen
    std::vector<Shape> shapes;
    std::vector<float> numbers;
    std::string letters;
    uint64_t dropped = 0;    // shapes with a coordinate that is not finite

    std::span<const float> numbers_of(const Shape& shape) const {
        return {numbers.data() + shape.first, shape.count};
    }
    std::string_view text_of(const Shape& shape) const {
        return {letters.data() + shape.text, shape.letters};
    }
};

// The target of a Canvas. It never throws, since an author's compiled code calls it.
class Painter final {
public:
    Canvas canvas() { return Canvas(this, &Painter::put); }
    // The finished picture. Throws, with `who` in front, where a fault ended it, where it is too large, or where its
    // view is empty.
    DisplayList take(const std::string& who);

    static void put(void* painter, Canvas::Form, const float* numbers, int count, Colour,
                    const char* text);
    // Marks the picture as failed for this reason.
    static void fail(void* painter, const char* words);

private:
    void add(Canvas::Form, std::span<const float> numbers, Colour, const char* text);

    DisplayList list_;
    std::string fault_;
    bool too_much_ = false, has_view_ = false;
};

}
