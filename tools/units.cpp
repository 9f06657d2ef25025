#include "tools/units.h"

#include "engine/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nacelle::tools {
namespace {

std::string fixed(double value, int digits) {
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

// Returns below ten differ in later digits.
int digits_after_point(double value) { return std::abs(value) < 10 ? 3 : 1; }

}

std::string count_text(double value) {
    const char* unit = "";
    for (const char* next : {" k", " M", " B", " T"})
        // 999.6 would be printed as 1e+03.
        if (std::abs(value) >= 999.5) {
            value /= 1000;
            unit = next;
        }
    return rounded(value, 3) + unit;
}

std::string return_text(double value) { return fixed(value, digits_after_point(value)); }

std::string with_interval(double mean, double interval) {
    return return_text(mean) + " ± " + interval_text(mean, interval);
}

std::string interval_text(double mean, double interval) {
    return fixed(interval, digits_after_point(mean));
}

std::string duration_text(double seconds) {
    if (seconds < 60) return fixed(seconds, 2) + " s";
    char text[64];
    const auto whole = static_cast<long>(std::lround(std::min(seconds, 1e12)));
    if (whole < 3600) std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
    else
        std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                      whole % 60);
    return text;
}

}
