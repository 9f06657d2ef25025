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

// Numbers of these sizes have digits behind the point, those below ten more of them; others have so many in all.
constexpr double smallest_fixed = 0.01, largest_fixed = 1e7;
constexpr int digits_of_others = 4;

// `of_size`: what the number belongs to, which has the same form.
std::string text_of(double value, double of_size) {
    const double size = std::abs(of_size);
    // A number that is none is not below anything.
    const bool other = (size > 0 && size < smallest_fixed) || size >= largest_fixed;
    return other ? rounded(value, digits_of_others) : fixed(value, size < 10 ? 3 : 1);
}
double larger(double a, double b) { return std::abs(a) < std::abs(b) ? b : a; }
// An interval shows in the digits of its mean, unless the mean has none.
double size_of(double mean, double interval) {
    return std::abs(mean) < smallest_fixed ? larger(mean, interval) : mean;
}

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

std::string return_text(double value) { return text_of(value, value); }

std::string with_interval(double mean, double interval) {
    return text_of(mean, size_of(mean, interval)) + " ± " + interval_text(mean, interval);
}

std::string interval_text(double mean, double interval) {
    return text_of(interval, size_of(mean, interval));
}

std::string with_bounds(double mean, double low, double high) {
    const double size = size_of(mean, larger(low, high));
    return text_of(mean, size) + " (" + text_of(low, size) + " to " + text_of(high, size) + ")";
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
