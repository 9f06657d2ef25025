#pragma once
#include <string>
#include <vector>

namespace nacelle::tools {

// What an axis has to show.
struct PlotRange {
    double low = 0, high = 0;
    bool any = false;

    void take(double value);
};

struct PlotTick {
    double value;
    std::string text;    // "500 k", "1.5 M"
};

// An axis with ticks at multiples of 1, 2, 2.5 or 5 times a power of ten.
class PlotAxis final {
public:
    PlotAxis() = default;
    // One that ends where the range does.
    static PlotAxis exactly(const PlotRange& range);
    // One with some room, or that begins or ends at zero where that is near.
    static PlotAxis around(const PlotRange& range);

    double low() const { return low_; }
    double high() const { return high_; }
    std::vector<PlotTick> ticks() const;

private:
    PlotAxis(double low, double high);

    double low_ = 0, high_ = 1, step_ = 1;
};

}
