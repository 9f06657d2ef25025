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

std::string number_text(double number) { return rounded(number, 10); }

}
