#include "engine/watch/section_texts.h"

#include "engine/base/number_text.h"
#include "engine/config/config.h"

#include <cmath>

namespace nacelle {
namespace {

void add(std::string& text, double number, int digits) {
    if (std::isfinite(number)) append_rounded(text, number, digits);
    else text += "null";
}

}

std::string json_word(std::string_view words) { return json_text(std::string(words)); }

std::string picture_text(const DisplayList& list) {
    std::string text = "\"view\":[";
    for (const float edge : {list.left, list.bottom, list.right, list.top}) {
        if (text.back() != '[') text += ',';
        add(text, edge, 7);
    }
    text += "],\"dropped\":" + std::to_string(list.dropped) + ",\"shapes\":[";
    text.reserve(text.size() + list.shapes.size() * 48);
    for (const Shape& shape : list.shapes) {
        if (text.back() != '[') text += ',';
        const Colour c = shape.colour;
        text += '[';
        append_shortest(text, uint64_t(shape.form));
        text += ',';
        append_shortest(text, uint64_t(c.red) << 24 | uint64_t(c.green) << 16 |
                                  uint64_t(c.blue) << 8 | c.alpha);
        for (const float number : list.numbers_of(shape)) {
            text += ',';
            add(text, number, 6);
        }
        if (shape.letters) (text += ',') += json_word(list.text_of(shape));
        text += ']';
    }
    return text + "]";
}

bool is_shown_first(const Field& field) {
    switch (field.role) {
        case Role::state:
        case Role::agent:
        case Role::action:
        case Role::obs:
        case Role::reward:
        case Role::turn:
        case Role::mask:
        case Role::episode: return true;
        default: return false;
    }
}

std::string form_text(const Field& field, size_t rows) {
    std::string dims = rows > 1 ? std::to_string(rows) : "";
    for (uint32_t i = 0; i < field.rank; ++i)
        dims += (dims.empty() ? "" : ", ") + std::to_string(field.dims[i]);
    if (field.rank == 0 && field.count > 1)
        dims += (dims.empty() ? "" : ", ") + std::to_string(field.count);
    return dtype_name(field.dtype) + (dims.empty() ? "" : " [" + dims + "]");
}

std::string arrays_text(const Scene& scene, const ArrayChoice& choice) {
    std::string text = "[";
    for (const Scene::Part& part : scene.parts) {
        const Field& field = part.field;
        const bool shown =
            choice.names.empty() ? is_shown_first(field) : choice.names.contains(field.name);
        if (!shown || part.rows == 0) continue;
        const size_t row = std::min(choice.agent, part.rows - 1);
        if (text.size() > 1) text += ',';
        text += "{\"name\":" + json_word(field.name) +
                ",\"form\":" + json_word(form_text(field, part.rows)) +
                ",\"row\":" + std::to_string(row) + ",\"rows\":" + std::to_string(part.rows) +
                ",\"count\":" + std::to_string(field.count) + ",\"dims\":[";
        for (uint32_t i = 0; i < field.rank; ++i)
            text += (i ? "," : "") + std::to_string(field.dims[i]);
        text += "],\"values\":[";
        for (size_t k = 0; k < std::min<size_t>(field.count, most_shown); ++k) {
            if (k) text += ',';
            add(text, scene.number(part, row, k), 6);
        }
        text += "]}";
    }
    return text + "]";
}

double first_number(const Scene& scene, std::string_view array, size_t row) {
    const Scene::Part* const part = scene.find(array);
    if (!part || part->rows == 0 || part->field.count == 0) return NAN;
    return scene.number(*part, std::min(row, part->rows - 1), 0);
}

}
