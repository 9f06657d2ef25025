#pragma once
#include "engine/view/display_list.h"

#include <array>

namespace nacelle::tools {

// An RGB image, from the top left.
struct Pixels {
    int wide = 0, high = 0;
    std::vector<uint8_t> rgb;
};

// The background.
inline constexpr std::array<uint8_t, 3> paper = {246, 245, 241};

// Renders an image whose longer side has `pixels` pixels. Equal lists give equal bytes on every machine: letters are
// strokes, not fonts.
Pixels rasterised(const DisplayList& list, int pixels);

}
