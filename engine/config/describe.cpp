#include "engine/config/describe.h"

#include "engine/base/number_text.h"

namespace nacelle {

std::string describe(const Json& value) {
    constexpr size_t shown = 60;
    if (value.is_object()) return "an object";
    // dump() calls infinity and NaN null.
    if (value.is_number_float()) return number_text(value.get<double>());
    const std::string text = json_text(value);
    if (text.size() <= shown) return text;
    return value.is_array() ? "a list" : "a text of " + std::to_string(text.size()) + " bytes";
}

Json short_floats(const Json& value) {
    if (value.is_array()) {
        Json list = Json::array();
        for (const Json& one : value) list.push_back(short_floats(one));
        return list;
    }
    if (!value.is_number_float()) return value;
    const auto number = value.get<double>();
    const auto single = static_cast<float>(number);
    return double(single) == number ? Json(as_written(single)) : value;
}

std::string number_text(double number) { return rounded(number, 10); }

}
