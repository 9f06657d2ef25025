#include "engine/base/number_text.h"

#include <cmath>
#include <iterator>

namespace nacelle {

std::string shortest(double number) {
    std::string text;
    if (const auto single = static_cast<float>(number); double(single) == number)
        append_shortest(text, single);
    else append_shortest(text, number);
    return text;
}

double as_written(float number) {
    if (!std::isfinite(number)) return number;
    char digits[40];
    double written = number;
    std::from_chars(digits, std::to_chars(digits, std::end(digits), number).ptr, written);
    return written;
}

void append_rounded(std::string& text, double number, int digits) {
    char buffer[40];
    text.append(
        buffer,
        std::to_chars(buffer, std::end(buffer), number, std::chars_format::general, digits).ptr);
}

const char* not_finite_text(double number) {
    if (std::isnan(number)) return "not a number";
    return number > 0 ? "infinite" : "minus infinity";
}

std::string counted(uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string rounded(double number, int digits) {
    std::string text;
    append_rounded(text, number, digits);
    return text;
}

}
