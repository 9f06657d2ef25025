#include "engine/watch/parameters.h"

#include "engine/config/describe.h"

#include <cmath>
#include <cstring>

namespace nacelle {
namespace {

// Single floats as their author wrote them.
Json short_value(const Json& value, Dtype dtype) {
    return dtype == Dtype::f32 ? short_floats(value) : value;
}

const char* kind_of(const Field& field, const Json& value) {
    if (field.kind == Kind::table) return "table";
    if (field.rank > 0) return "list";
    if (is_distribution(value)) return "drawn";
    if (field.dtype == Dtype::b8) return "flag";
    return field.dtype == Dtype::f32 || field.dtype == Dtype::f64 ? "number" : "whole";
}

// 1, 2 or 5 times a power of ten, and not below the number.
double round_up(double number) {
    const double ten = std::pow(10.0, std::floor(std::log10(number)));
    for (const double times : {1.0, 2.0, 5.0})
        if (number <= times * ten * 1.0001) return times * ten;
    return 10 * ten;
}

void add_range(Json& entry, double usual, bool whole) {
    const double reach = usual == 0 ? 1 : round_up(3 * std::abs(usual));
    double low = usual > 0 ? 0 : -reach;
    const double high = usual < 0 ? 0 : reach;
    double step = round_up((high - low) / 1000);
    if (whole) {
        low = std::floor(low);
        step = std::max(1.0, std::round(step));
    }
    entry["low"] = low;
    entry["high"] = high;
    entry["step"] = step;
}

}

Json parameters_json(const Environment& env) {
    Json all = Json::array();
    for (const Field* field : env.schema().params()) {
        const std::string name = field->name + std::strlen("param.");
        const Json value = field->kind == Kind::table ? Json() : env.param(name);
        const std::string kind = kind_of(*field, value);
        Json entry = {{"name", name}, {"kind", kind}, {"value", short_value(value, field->dtype)}};
        if (kind == "number" || kind == "whole") {
            entry["default"] = short_value(field->initial, field->dtype);
            add_range(entry, field->initial, kind == "whole");
        }
        all.push_back(std::move(entry));
    }
    return all;
}

}
