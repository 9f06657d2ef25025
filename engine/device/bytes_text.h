#pragma once
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>

namespace nacelle {

// A size for messages: "512 bytes", "3.5 GiB".
inline std::string bytes_text(size_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " bytes";
    constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    double value = static_cast<double>(bytes) / 1024;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
    return text;
}

}
