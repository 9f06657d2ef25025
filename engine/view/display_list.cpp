#include "engine/view/display_list.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace nacelle {
namespace {

bool all_finite(std::span<const float> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

// The bounding box of the shapes of a list.
struct Reach {
    float left = INFINITY, bottom = INFINITY, right = -INFINITY, top = -INFINITY;

    void take(float x, float y, float around = 0) {
        left = std::min(left, x - around);
        right = std::max(right, x + around);
        bottom = std::min(bottom, y - around);
        top = std::max(top, y + around);
    }
    void take(Canvas::Form form, std::span<const float> n) {
        using Form = Canvas::Form;
        if (form == Form::disc || form == Form::ring) return take(n[0], n[1], std::abs(n[2]));
        if (form == Form::text || form == Form::number) return take(n[0], n[1]);
        const size_t corners = form == Form::polygon ? n.size() / 2 : 2;
        for (size_t i = 0; i < corners; ++i) take(n[2 * i], n[2 * i + 1]);
    }
};

// The bounding box with a margin.
void show_everything(DisplayList& list) {
    Reach reach;
    for (const Shape& shape : list.shapes) reach.take(shape.form, list.numbers_of(shape));
    if (!(reach.left <= reach.right)) return;    // nothing was painted
    const float size = std::max(reach.right - reach.left, reach.top - reach.bottom);
    const float room = size > 0 ? 0.05f * size : 1;
    list.left = reach.left - room;
    list.right = reach.right + room;
    list.bottom = reach.bottom - room;
    list.top = reach.top + room;
}

}

void Painter::put(void* painter, Canvas::Form form, const float* numbers, int count, Colour colour,
                  const char* text) {
    auto& self = *static_cast<Painter*>(painter);
    try {
        self.add(form, {numbers, size_t(std::max(count, 0))}, colour, text);
    } catch (...) {    // no memory
        self.too_much_ = true;
    }
}

void Painter::fail(void* painter, const char* words) {
    auto& self = *static_cast<Painter*>(painter);
    try {
        self.fault_ = words;
    } catch (...) {    // no memory
        self.too_much_ = true;
    }
}

void Painter::add(Canvas::Form form, std::span<const float> numbers, Colour colour,
                  const char* text) {
    if (!all_finite(numbers)) {
        ++list_.dropped;
        return;
    }
    if (form == Canvas::Form::view) {
        list_.left = numbers[0];
        list_.bottom = numbers[1];
        list_.right = numbers[2];
        list_.top = numbers[3];
        has_view_ = true;
        return;
    }
    std::string digits;
    if (form == Canvas::Form::number) {
        digits = rounded(double(numbers[3]), 4);
        text = digits.c_str();
    }
    const size_t letters = text ? ::strnlen(text, DisplayList::letters_of_one) : 0;
    if (list_.shapes.size() >= DisplayList::most_shapes ||
        list_.numbers.size() + numbers.size() > DisplayList::most_numbers ||
        list_.letters.size() + letters > DisplayList::most_letters) {
        too_much_ = true;
        return;
    }
    list_.shapes.push_back({form, colour, uint32_t(list_.numbers.size()), uint32_t(numbers.size()),
                            uint32_t(list_.letters.size()), uint32_t(letters)});
    list_.numbers.insert(list_.numbers.end(), numbers.begin(), numbers.end());
    if (letters) list_.letters.append(text, letters);
}

DisplayList Painter::take(const std::string& who) {
    DisplayList list = std::exchange(list_, {});
    if (const std::string fault = std::exchange(fault_, {}); !fault.empty())
        throw Error(who, "draw() was ended: " + fault,
                    "it was not written for the numbers that are recorded");
    if (std::exchange(too_much_, false))
        throw Error(who, "draw() paints too much for one picture",
                    "at most " + std::to_string(DisplayList::most_shapes) + " shapes, " +
                        std::to_string(DisplayList::most_numbers) + " coordinates and " +
                        std::to_string(DisplayList::most_letters) + " letters");
    if (!std::exchange(has_view_, false)) show_everything(list);
    const float wide = std::abs(list.right - list.left), high = std::abs(list.top - list.bottom);
    // A larger ratio than a float can resolve is not a picture.
    if (!(wide > 0 && high > 0 && wide < 1e30f && high < 1e30f && wide < 1e4f * high &&
          high < 1e4f * wide))
        throw Error(
            who, "draw() shows an area of " + std::to_string(wide) + " by " + std::to_string(high),
            "view(left, bottom, right, top) takes numbers that lie apart");
    return list;
}

}
