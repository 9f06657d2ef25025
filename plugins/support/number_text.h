#pragma once
#include <charconv>
#include <cmath>
#include <string>

namespace nacelle::plugins {

// The shortest text that reads back as the same number; "nan", "inf" and "-inf".
inline std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}
