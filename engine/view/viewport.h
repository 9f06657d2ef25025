#pragma once
#include "engine/view/display_list.h"

#include <algorithm>
#include <cmath>

namespace nacelle {

// Maps the coordinates of a picture to those of an image whose longer side has `pixels` pixels, counted from its top
// left.
class Viewport final {
public:
    Viewport(const DisplayList& list, int pixels) : list_(list) {
        const double wide_seen = std::abs(list.right - list.left),
                     high_seen = std::abs(list.top - list.bottom);
        scale_ = pixels / std::max(wide_seen, high_seen);
        wide = std::max(1.0, std::round(wide_seen * scale_));
        high = std::max(1.0, std::round(high_seen * scale_));
    }
    double x(double at) const { return (at - list_.left) / (list_.right - list_.left) * wide; }
    double y(double at) const { return (list_.top - at) / (list_.top - list_.bottom) * high; }
    double length(double of) const { return std::abs(of) * scale_; }
    // The width in pixels; 0 asks for a line that is visible at any size.
    double line_width(double asked) const {
        return asked == 0 ? std::max(1.0, std::max(wide, high) / 360) : length(asked);
    }
    double letter_size(double asked) const {
        return asked == 0 ? std::max(wide, high) / 36 : length(asked);
    }

    double wide, high;

private:
    const DisplayList& list_;
    double scale_;
};

}
