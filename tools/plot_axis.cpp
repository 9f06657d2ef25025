#include "tools/plot_axis.h"

#include "engine/base/number_text.h"

#include <algorithm>
#include <cmath>

namespace nacelle::tools {
namespace {

constexpr double ticks_wanted = 5;

// The nearest one to so many ticks.
double step_for(double width) {
    const double rough = width / ticks_wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double best = power;
    for (const double factor : {2.0, 2.5, 5.0, 10.0})
        if (std::abs(std::log(factor * power / rough)) < std::abs(std::log(best / rough)))
            best = factor * power;
    return best;
}

struct Unit {
    double size;
    const char* name;
};
// One unit for all ticks of an axis.
Unit unit_for(double largest) {
    for (const Unit& unit : {Unit{1e12, " T"}, Unit{1e9, " B"}, Unit{1e6, " M"}, Unit{1e3, " k"}})
        if (largest >= unit.size * 0.9999 && largest >= 1e4) return unit;
    return {1, ""};
}

}

void PlotRange::take(double value) {
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
}

// A range without a width gets one that a double can resolve.
PlotAxis::PlotAxis(double low, double high) : low_(low), high_(high) {
    const double least = std::max({std::abs(low), std::abs(high), 1e-9}) * 1e-6;
    if (high_ - low_ < least) {
        const double room = std::max(std::abs(low) * 0.1, 0.5);
        low_ -= room;
        high_ += room;
    }
    step_ = step_for(high_ - low_);
}

PlotAxis PlotAxis::exactly(const PlotRange& range) { return {range.low, range.high}; }

PlotAxis PlotAxis::around(const PlotRange& range) {
    constexpr double room = 0.04, near_zero = 0.5;
    const double width = range.high - range.low;
    const bool from_zero = range.low >= 0 && range.low < near_zero * width;
    const bool to_zero = range.high <= 0 && -range.high < near_zero * width;
    return {from_zero ? 0 : range.low - room * width, to_zero ? 0 : range.high + room * width};
}

std::vector<PlotTick> PlotAxis::ticks() const {
    const Unit unit = unit_for(std::max(std::abs(low_), std::abs(high_)));
    std::vector<PlotTick> ticks;
    for (double index = std::ceil(low_ / step_ - 1e-6); index * step_ <= high_ + 1e-6 * step_;
         ++index) {
        const double value = index * step_;
        const std::string number = index == 0 ? "0" : rounded(value / unit.size, 6);
        ticks.push_back({value, index == 0 ? number : number + unit.name});
    }
    return ticks;
}

}
